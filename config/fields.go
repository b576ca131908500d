package config

import (
	"reflect"
	"strconv"
	"sync"
)

// field is what the tags of one struct field say; doc.go lists them.
type field struct {
	index    int
	key      string
	doc      string
	def      string
	min, max string
	large    string
	items    int
	required bool
}

// maxItems is the most entries of a list or mapping that says nothing else.
const maxItems = 10_000

var fieldCache sync.Map // reflect.Type -> []field

// fieldsOf is the keyed fields of a struct type, in order; none of any other type.
func fieldsOf(t reflect.Type) []field {
	if f, ok := fieldCache.Load(t); ok {
		return f.([]field)
	}
	if t.Kind() != reflect.Struct {
		return nil
	}
	var out []field
	for i := range t.NumField() {
		tag := t.Field(i).Tag
		key := tag.Get("yaml")
		if key == "" || key == "-" {
			continue
		}
		f := field{index: i, key: key, doc: tag.Get("doc"), def: tag.Get("default"), min: tag.Get("min"),
			max: tag.Get("max"), large: tag.Get("large"), items: maxItems, required: tag.Get("required") == "true"}
		if n, err := strconv.Atoi(tag.Get("items")); err == nil {
			f.items = n
		}
		out = append(out, f)
	}
	fieldCache.Store(t, out)
	return out
}

func keysOf(t reflect.Type) []string {
	var out []string
	for _, f := range fieldsOf(t) {
		out = append(out, f.key)
	}
	return out
}

// isScalar reports whether a type has its own one-word form.
func isScalar(t reflect.Type) bool { return reflect.PointerTo(t).Implements(reflect.TypeFor[scalar]()) }

// tagOf is YAML's tag of what a scalar type is written as.
func tagOf(t reflect.Type) string {
	if reflect.Zero(t).Interface().(written).kind() == wholeKind {
		return "!!int"
	}
	return "!!str"
}

// wholeKind is the kind of a scalar that is written as a whole number.
const wholeKind = "number"

// isNamed reports whether a list of t is written as a mapping from its names.
func isNamed(t reflect.Type) bool {
	if t.Kind() != reflect.Struct {
		return false
	}
	f, ok := t.FieldByName("Name")
	return ok && f.Tag.Get("yaml") == "-"
}

// isTuple reports whether t is written as a list of its fields in order.
func isTuple(t reflect.Type) bool { return t == reflect.TypeFor[Share]() }

var (
	textType  = reflect.TypeFor[Text]()
	wordsType = reflect.TypeFor[Words]()
)

// size is the size of a number, unit or scalar, to be held against its range.
func size(v reflect.Value) (float64, bool) {
	if m, ok := v.Interface().(measured); ok {
		return m.measure(), true
	}
	switch v.Kind() {
	case reflect.Int, reflect.Int64:
		return float64(v.Int()), true
	case reflect.Float64:
		return v.Float(), true
	}
	return 0, false
}

// limit reads a min, max or large tag in the unit of t. Tags are constants of this
// package: one that does not parse is a bug, found by any test.
func limit(t reflect.Type, text string) float64 {
	v := reflect.New(t)
	if s, ok := v.Interface().(scalar); ok {
		if err := s.parse(tagOf(t), text); err != nil {
			panic("BUG: config: tag " + text + ": " + err.Error())
		}
		n, _ := size(v.Elem())
		return n
	}
	n, err := strconv.ParseFloat(text, 64)
	if err != nil {
		panic("BUG: config: tag " + text + ": " + err.Error())
	}
	return n
}
