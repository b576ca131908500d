package config

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// checker collects problems of a Config, whether it came from a file or from Go.
type checker struct {
	cfg   *Config
	src   *source
	known Errors // of decoding; what follows from one is not reported
	errs  Errors
	warn  []Warning
}

// report adds a problem at path.
func (k *checker) report(path, fix, what string, args ...any) {
	if k.doubtful(path) {
		return
	}
	file, p := k.src.find(path)
	k.errs = append(k.errs, &Error{File: file, Line: p.line, Column: p.column, Path: path, What: path + " " + fmt.Sprintf(what, args...), Fix: fix})
}

// missing adds that the mapping at path lacks key.
func (k *checker) missing(path, key, fix string) {
	if !k.misspelt(path) {
		k.report(join(path, key), fix, "is missing")
	}
}

// advise adds a warning at path.
func (k *checker) advise(path, fix, what string, args ...any) {
	file, p := k.src.find(path)
	k.warn = append(k.warn, Warning{File: file, Line: p.line, Column: p.column, Path: path, What: path + " " + fmt.Sprintf(what, args...), Fix: fix})
}

// written reports whether path stands in the file.
func (k *checker) written(path string) bool {
	if k.src == nil {
		return false
	}
	_, ok := k.src.at[path]
	return ok
}

// ranges holds every value against the tags of its field.
func (k *checker) ranges(v reflect.Value, path string) {
	t := v.Type()
	for _, f := range fieldsOf(t) {
		at, x := join(path, f.key), v.Field(f.index)
		if x.IsZero() && !k.written(at) {
			if f.required && !isScalar(t) && (path == "" || k.written(path) || !v.IsZero()) {
				k.missing(path, f.key, "add "+f.key)
			}
			continue
		}
		k.value(x, at, f)
	}
}

func (k *checker) value(x reflect.Value, at string, f field) {
	t := x.Type()
	if k.notYet(at, "") {
		return
	}
	if c, ok := x.Interface().(choice); ok && !slices.Contains(c.values(), x.String()) {
		k.report(at, oneOf(x.String(), c.values()), "is %s", quote(x.String()))
		return
	}
	if t != textType && isScalar(t) && (hasScalar(x) || x.IsZero()) {
		k.scalar(x, at, f)
		return
	}
	switch {
	case t == textType:
		if x.IsZero() {
			k.report(at, "write a value, or remove the key", "is empty")
		}
	case isTuple(t):
		for _, g := range fieldsOf(t) {
			k.value(x.Field(g.index), join(at, g.key), g)
		}
	case t.Kind() == reflect.Struct:
		k.ranges(x, at)
	case t.Kind() == reflect.Slice || t.Kind() == reflect.Map:
		k.items(x, at, f)
	default:
		k.within(x, at, f)
	}
}

// scalar catches what only Go can make, such as a negative duration: what does not
// read back is no value of the format.
func (k *checker) scalar(x reflect.Value, at string, f field) {
	text := x.Interface().(written).format()
	if k.notYet(at, "="+text) {
		return
	}
	again := reflect.New(x.Type()).Interface().(scalar)
	if err := again.parse(tagOf(x.Type()), text); err != nil {
		p := err.(*problem)
		k.report(at, p.fix, "%s", p.what)
		return
	}
	k.within(x, at, f)
}

func (k *checker) within(x reflect.Value, at string, f field) {
	n, ok := size(x)
	if !ok {
		return
	}
	show := showNumber(x)
	switch {
	case n != n:
		k.report(at, "write a number", "is not a number")
	case f.min != "" && n < limit(x.Type(), f.min), f.max != "" && n > limit(x.Type(), f.max):
		k.report(at, "give "+rangeWords(f), "is %s", show)
	case f.large != "" && n > limit(x.Type(), f.large):
		k.advise(at, "make sure that it is meant", "is %s, more than %s", show, f.large)
	}
}

// rangeWords is a range as a fix says it.
func rangeWords(f field) string {
	switch {
	case f.max == "":
		return "at least " + f.min
	case f.min == "":
		return "at most " + f.max
	case f.min == f.max:
		return f.min
	}
	return f.min + " to " + f.max
}

func showNumber(x reflect.Value) string {
	if w, ok := x.Interface().(written); ok {
		return w.format()
	}
	if x.Kind() == reflect.Float64 {
		return strconv.FormatFloat(x.Float(), 'f', -1, 64)
	}
	return strconv.FormatInt(x.Int(), 10)
}

func (k *checker) items(x reflect.Value, at string, f field) {
	if x.Len() > f.items {
		k.report(at, "keep at most "+strconv.Itoa(f.items), "has %d entries", x.Len())
		return
	}
	one := f
	one.items = maxItems
	if x.Kind() == reflect.Map {
		keys := x.MapKeys()
		slices.SortFunc(keys, func(a, b reflect.Value) int { return strings.Compare(a.String(), b.String()) })
		for _, key := range keys {
			k.value(x.MapIndex(key), join(at, key.String()), one)
		}
		return
	}
	if x.Len() == 0 && f.required {
		k.report(at, "write at least one", "is empty")
	}
	for i := range x.Len() {
		name := strconv.Itoa(i)
		if isNamed(x.Type().Elem()) {
			name = x.Index(i).FieldByName("Name").String()
			k.name(name, join(at, name))
		}
		k.value(x.Index(i), join(at, name), one)
	}
}

// maxName bounds a name: it is a metric label, a header value and a table column.
const maxName = 63

func (k *checker) name(name, at string) {
	ok := name != "" && len(name) <= maxName
	for i, r := range name {
		letter := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9'
		ok = ok && (letter || i > 0 && (r == '_' || r == '-'))
	}
	if !ok {
		k.report(at, "use up to 63 letters, digits, _ and -, a letter or digit first", "is not a name")
	}
}
