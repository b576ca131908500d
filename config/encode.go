package config

import (
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// MarshalYAML writes what the configuration says, keys in the order of the types and
// classes in theirs, defaults left out, ${...} and file: as they were written.
func (c *Config) MarshalYAML() (any, error) { return encode(reflect.ValueOf(*c)), nil }

func encode(v reflect.Value) *yaml.Node {
	t := v.Type()
	switch {
	case t == textType:
		return word("!!str", v.Interface().(Text).raw)
	case isShort(t) && onlyShort(v):
		return encode(shortOf(v))
	case t == listenersType && v.Len() == 1:
		return encode(v.Index(0))
	case isScalar(t) && hasScalar(v):
		text := v.Interface().(written).format()
		return word(tagOf(t), text)
	case isTuple(t):
		out := &yaml.Node{Kind: yaml.SequenceNode, Style: yaml.FlowStyle}
		for _, f := range fieldsOf(t) {
			out.Content = append(out.Content, encode(v.Field(f.index)))
		}
		return out
	}
	switch t.Kind() {
	case reflect.Struct:
		out := &yaml.Node{Kind: yaml.MappingNode}
		for _, f := range fieldsOf(t) {
			if x := v.Field(f.index); !x.IsZero() {
				out.Content = append(out.Content, word("!!str", f.key), encode(x))
			}
		}
		return out
	case reflect.Slice:
		return encodeList(v)
	case reflect.Map:
		out := &yaml.Node{Kind: yaml.MappingNode, Style: yaml.FlowStyle}
		keys := v.MapKeys()
		slices.SortFunc(keys, func(a, b reflect.Value) int { return strings.Compare(a.String(), b.String()) })
		for _, k := range keys {
			out.Content = append(out.Content, word("!!str", k.String()), encode(v.MapIndex(k)))
		}
		return out
	case reflect.String:
		return word("!!str", v.String())
	case reflect.Float64:
		return encodeFloat(v.Float())
	}
	return word("!!int", strconv.FormatInt(v.Int(), 10))
}

func encodeList(v reflect.Value) *yaml.Node {
	if isNamed(v.Type().Elem()) {
		out := &yaml.Node{Kind: yaml.MappingNode}
		for i := range v.Len() {
			out.Content = append(out.Content, word("!!str", v.Index(i).FieldByName("Name").String()), encode(v.Index(i)))
		}
		return out
	}
	out := &yaml.Node{Kind: yaml.SequenceNode, Style: yaml.FlowStyle}
	for i := range v.Len() {
		out.Content = append(out.Content, encode(v.Index(i)))
	}
	return out
}

func encodeFloat(x float64) *yaml.Node {
	text := strconv.FormatFloat(x, 'f', -1, 64)
	if x == math.Trunc(x) {
		return word("!!int", text)
	}
	return word("!!float", text)
}

// hasScalar reports whether a value that could be written either way is in its
// one-word form.
func hasScalar(v reflect.Value) bool {
	if s, ok := v.Interface().(interface{ hasScalar() bool }); ok {
		return s.hasScalar()
	}
	return true
}

// word is one YAML word; the library quotes it where its tag would not be guessed.
func word(tag, text string) *yaml.Node {
	return &yaml.Node{Kind: yaml.ScalarNode, Tag: tag, Value: text}
}
