package config

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// overridable lists the keys of a class that With takes: limits, and nothing that
// says which requests a class takes or where they go.
var overridable = []string{
	"slots", "borrow", "budget.latency", "budget.service", "memory.limit", "deadline", "max_deadline", "call.timeout", "mode",
}

// Overridable lists the keys of a class that [Config.With] takes.
func Overridable() []string { return slices.Clone(overridable) }

// With is a copy in which keys of a class have other values, in the words of the
// file: {"slots": "20", "budget.latency": "200ms"}. It is held against the same
// checks as a file. The error is one line.
func (c *Config) With(class string, keys map[string]string) (*Config, error) {
	out := clone(reflect.ValueOf(*c)).Interface().(Config)
	i := slices.IndexFunc(out.Classes, func(k Class) bool { return k.Name == class })
	if i < 0 {
		var names []string
		for _, k := range out.Classes {
			names = append(names, k.Name)
		}
		return nil, fmt.Errorf("there is no class %s; there are %s", quote(class), strings.Join(names, ", "))
	}
	if len(keys) == 0 {
		return nil, fmt.Errorf("say what is to be overridden: one or more of %s", strings.Join(overridable, ", "))
	}
	for _, key := range sortedNames(keys) {
		if !slices.Contains(overridable, key) {
			return nil, fmt.Errorf("%s cannot be overridden; %s", quote(key), oneOf(key, overridable))
		}
		if err := set(reflect.ValueOf(&out.Classes[i]).Elem(), key, keys[key]); err != nil {
			return nil, err
		}
	}
	bare := out
	bare.src = nil // what is wrong now does not stand in the file
	if err := bare.Validate(); err != nil {
		first, _, _ := strings.Cut(err.Error(), "\n")
		return nil, fmt.Errorf("%s", strings.TrimPrefix(first, "config: "))
	}
	return &out, nil
}

// set gives the value at a path below v, such as budget.latency, another text.
func set(v reflect.Value, path, text string) error {
	for key := range strings.SplitSeq(path, ".") {
		fields := fieldsOf(v.Type())
		i := slices.IndexFunc(fields, func(f field) bool { return f.key == key })
		v = v.Field(fields[i].index)
	}
	v.SetZero()
	tag := "!!str"
	if digits := strings.TrimPrefix(text, "-"); allDigits(digits) && digits != "" {
		tag = "!!int" // as YAML would have it
	}
	var err error
	if s, ok := v.Addr().Interface().(scalar); ok {
		err = s.parse(tag, text)
	} else {
		var n int64
		n, err = wholeNumber(tag, text)
		v.SetInt(n)
	}
	if err != nil {
		p := err.(*problem)
		return fmt.Errorf("%s: %s; %s", path, p.what, p.fix)
	}
	if v.IsZero() && path != "borrow" { // which a configuration made in Go does not tell from the default
		return fmt.Errorf("%s: is %s; give more, or switch the class by POST /operate", path, text)
	}
	return nil
}
