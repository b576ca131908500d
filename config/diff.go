package config

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// Change is one key that is not in two configurations what it was.
type Change struct {
	Path string `json:"path"` // the key's way from the top, "classes.checkout.slots"
	Old  string `json:"old"`  // as it is written, defaults filled in, secrets left out; empty: it was not there
	New  string `json:"new"`  // empty: it is there no more
	// Means says what becomes of what waits and runs, where that is a question.
	Means string `json:"means,omitempty"`
	// Restart: a running gateway cannot take it over.
	Restart bool `json:"restart,omitempty"`
}

// String is one line: path: old -> new: what it means.
func (c Change) String() string {
	var b strings.Builder
	switch {
	case c.Old == "" && c.New == "":
		b.WriteString(c.Path)
	case c.Old == "":
		fmt.Fprintf(&b, "+ %s: %s", c.Path, c.New)
	case c.New == "":
		fmt.Fprintf(&b, "- %s: %s", c.Path, c.Old)
	default:
		fmt.Fprintf(&b, "%s: %s -> %s", c.Path, c.Old, c.New)
	}
	if c.Restart {
		b.WriteString(": needs a restart")
	}
	if c.Means != "" {
		b.WriteString(": " + c.Means)
	}
	return b.String()
}

// Diff returns what changes from one configuration to another, in the order of
// the new file, what was removed first in each mapping. Both have passed
// validation; what they leave to defaults is compared by its default, so that a
// key that is written out as it was by default is no change.
func Diff(from, to *Config) []Change {
	d := differ{}
	a, b := from.WithDefaults(), to.WithDefaults()
	d.fields(reflect.ValueOf(*a), reflect.ValueOf(*b), "")
	return d.changes
}

type differ struct{ changes []Change }

// add notes a change, and what a change that goes that way means.
func (d *differ) add(path, from, to string, goes way) {
	m := meaningOf(path)
	c := Change{Path: path, Old: from, New: to, Restart: m.restart, Means: m.of(goes)}
	if from == to { // a secret, or what a file holds
		c.Means = strings.TrimPrefix(c.Means+"; what it stands for has changed", "; ")
	}
	d.changes = append(d.changes, c)
}

// fields compares two structs of the format field by field.
func (d *differ) fields(a, b reflect.Value, path string) {
	for _, f := range fieldsOf(a.Type()) {
		d.value(a.Field(f.index), b.Field(f.index), join(path, f.key))
	}
}

func (d *differ) value(a, b reflect.Value, path string) {
	t := a.Type()
	switch {
	case reflect.DeepEqual(a.Interface(), b.Interface()):
	case t.Kind() == reflect.Slice && isNamed(t.Elem()):
		d.named(a, b, path)
	case t.Kind() == reflect.Map:
		d.entries(a, b, path)
	case t.Kind() == reflect.Struct && len(fieldsOf(t)) > 0 && !isTuple(t) && !isScalar(t):
		d.fields(a, b, path)
	default:
		d.add(path, shown(a), shown(b), wayOf(a, b))
	}
}

// named compares two lists whose entries have names.
func (d *differ) named(a, b reflect.Value, path string) {
	before, after := namesIn(a), namesIn(b)
	for _, name := range before {
		if !slices.Contains(after, name) {
			d.gone(join(path, name))
		}
	}
	for i, name := range after {
		if k := slices.Index(before, name); k >= 0 {
			d.fields(a.Index(k), b.Index(i), join(path, name))
		} else {
			d.came(join(path, name))
		}
	}
	kept := func(names, others []string) string {
		return strings.Join(slices.DeleteFunc(slices.Clone(names), func(n string) bool { return !slices.Contains(others, n) }), ", ")
	}
	if from, to := kept(before, after), kept(after, before); from != to {
		d.changes = append(d.changes, Change{Path: path, Old: from, New: to, Means: "another order: the first that matches takes a request"})
	}
}

func (d *differ) gone(path string) {
	c := Change{Path: path, Old: "removed", Means: "takes in nothing more; what waits and runs is finished"}
	if !strings.HasPrefix(path, "classes.") {
		c.Means = meaningOf(path).says
	}
	d.changes = append(d.changes, c)
}

func (d *differ) came(path string) {
	d.changes = append(d.changes, Change{Path: path, New: "added"})
}

func namesIn(list reflect.Value) []string {
	names := make([]string, list.Len())
	for i := range names {
		names[i] = list.Index(i).FieldByName("Name").String()
	}
	return names
}

// entries compares two mappings.
func (d *differ) entries(a, b reflect.Value, path string) {
	var keys []string
	for _, m := range []reflect.Value{a, b} {
		for _, k := range m.MapKeys() {
			keys = append(keys, k.String())
		}
	}
	slices.Sort(keys)
	for _, k := range slices.Compact(keys) {
		from, to := a.MapIndex(reflect.ValueOf(k)), b.MapIndex(reflect.ValueOf(k))
		switch {
		case !from.IsValid():
			d.add(join(path, k), "", shown(to), sideways)
		case !to.IsValid():
			d.add(join(path, k), shown(from), "", sideways)
		case !reflect.DeepEqual(from.Interface(), to.Interface()):
			d.add(join(path, k), shown(from), shown(to), wayOf(from, to))
		}
	}
}

// absent stands for a value that is not written and has no default of its own.
const absent = "none"

// shown renders a value on one line, secrets left out.
func shown(v reflect.Value) string {
	t := v.Type()
	switch {
	case t == textType:
		if text := v.Interface().(Text); !text.IsZero() {
			return text.String()
		}
		return absent
	case v.IsZero():
		return absent
	case isShort(t) && onlyShort(v):
		return shown(shortOf(v))
	case isScalar(t) && hasScalar(v):
		return v.Interface().(written).format()
	case t.Kind() == reflect.Slice:
		parts := make([]string, v.Len())
		for i := range parts {
			parts[i] = shown(v.Index(i))
		}
		return "[" + strings.Join(parts, ", ") + "]"
	case t.Kind() == reflect.Struct:
		var parts []string
		for _, f := range fieldsOf(t) {
			if x := v.Field(f.index); isTuple(t) || !x.IsZero() {
				parts = append(parts, f.key+": "+shown(x))
			}
		}
		return "{ " + strings.Join(parts, ", ") + " }"
	case t.Kind() == reflect.String:
		return v.String()
	}
	return showNumber(v)
}
