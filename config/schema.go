package config

import (
	"bytes"
	"encoding/json"
	"math"
	"reflect"
	"strconv"
	"strings"
)

// SchemaID is the address the schema names itself by.
const SchemaID = "https://spillway.dev/schema/config-1.json"

// Schema is the format as JSON Schema (draft 2020-12), indented, for editors and other
// tools. It knows keys, types, ranges and words; what needs several keys at once is
// known to [Parse] alone. Keys that are not built yet are in it, marked in their
// description.
func Schema() []byte {
	defs := map[string]any{}
	root := structSchema(reflect.TypeFor[Config](), "", defs)
	root["$schema"] = "https://json-schema.org/draft/2020-12/schema"
	root["$id"] = SchemaID
	root["title"] = "Spillway configuration"
	root["$defs"] = defs
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(root); err != nil {
		panic("BUG: config: schema: " + err.Error())
	}
	return out.Bytes()
}

func structSchema(t reflect.Type, path string, defs map[string]any) map[string]any {
	props, required := map[string]any{}, []any{}
	for _, f := range fieldsOf(t) {
		at := join(path, f.key)
		p := typeSchema(t.Field(f.index).Type, f, at, defs)
		doc := f.doc
		if b := notBuiltAt(at, ""); b != nil {
			doc = "Not yet. " + doc
		}
		p["description"] = doc
		if v, ok := literal(t.Field(f.index).Type, f.def); ok {
			p["default"] = v
		}
		props[f.key] = p
		if f.required {
			required = append(required, f.key)
		}
	}
	out := map[string]any{"type": "object", "properties": props, "additionalProperties": false}
	if len(required) > 0 {
		out["required"] = required
	}
	return out
}

func typeSchema(t reflect.Type, f field, path string, defs map[string]any) map[string]any {
	switch {
	case t == textType:
		return map[string]any{"type": "string", "minLength": 1}
	case t == wordsType:
		text := map[string]any{"type": "string"}
		return anyOf(text, map[string]any{"type": "array", "items": text, "maxItems": f.items})
	case t.Kind() == reflect.Slice && isNamed(t.Elem()):
		return map[string]any{"type": "object", "additionalProperties": ref(t.Elem(), join(path, "NAME"), defs), "maxProperties": f.items,
			"minProperties": minItems(f), "propertyNames": map[string]any{"pattern": "^[A-Za-z0-9][A-Za-z0-9_-]{0,62}$"}}
	case t == listenersType:
		one := anyOf(map[string]any{"type": "string", "minLength": 1}, ref(t.Elem(), path, defs))
		return anyOf(one["anyOf"].([]map[string]any)[0], one["anyOf"].([]map[string]any)[1], map[string]any{"type": "array", "items": one, "minItems": 1, "maxItems": f.items})
	case isShort(t):
		return anyOf(map[string]any{"type": "string", "minLength": 1}, ref(t, path, defs))
	case isTuple(t):
		var items []any
		for _, g := range fieldsOf(t) {
			items = append(items, typeSchema(t.Field(g.index).Type, g, path, defs))
		}
		return map[string]any{"type": "array", "prefixItems": items, "items": false, "minItems": len(items)}
	case t.Kind() == reflect.Slice:
		return map[string]any{"type": "array", "items": typeSchema(t.Elem(), f, path, defs), "maxItems": f.items, "minItems": minItems(f)}
	case t.Kind() == reflect.Map:
		return map[string]any{"type": "object", "additionalProperties": typeSchema(t.Elem(), f, path, defs), "maxProperties": f.items}
	case isScalar(t):
		one := ranged(reflect.Zero(t).Interface().(written).schema(), t, f)
		if len(fieldsOf(t)) == 0 {
			return one
		}
		return anyOf(one, ref(t, path, defs))
	case t.Kind() == reflect.Struct:
		return ref(t, path, defs)
	}
	if c, ok := reflect.Zero(t).Interface().(choice); ok {
		return map[string]any{"enum": anys(c.values())}
	}
	return ranged(map[string]any{"type": map[string]string{"text": "string", "number": "number", "whole number": "integer"}[kindName(t)]}, t, f)
}

func minItems(f field) int {
	if f.required {
		return 1
	}
	return 0
}

// ref puts a struct's schema among the definitions, once, and points at it.
func ref(t reflect.Type, path string, defs map[string]any) map[string]any {
	if _, done := defs[t.Name()]; !done {
		defs[t.Name()] = nil
		defs[t.Name()] = structSchema(t, path, defs)
	}
	return map[string]any{"$ref": "#/$defs/" + t.Name()}
}

// ranged adds minimum and maximum where the written form is a number.
func ranged(s map[string]any, t reflect.Type, f field) map[string]any {
	if s["type"] != "integer" && s["type"] != "number" {
		return s
	}
	if f.min != "" {
		s["minimum"] = exact(limit(t, f.min))
	}
	if f.max != "" {
		s["maximum"] = exact(limit(t, f.max))
	}
	return s
}

// exact keeps whole numbers whole in JSON.
func exact(x float64) any {
	if x == math.Trunc(x) {
		return int64(x)
	}
	return x
}

// literal is a default as JSON has it.
func literal(t reflect.Type, def string) (any, bool) {
	if def == "" {
		return nil, false
	}
	if n, err := strconv.ParseFloat(def, 64); err == nil && t.Kind() != reflect.String && t != textType {
		return exact(n), true
	}
	return def, true
}

func anyOf(alternatives ...map[string]any) map[string]any {
	return map[string]any{"anyOf": alternatives}
}

func anys(words []string) []any {
	out := make([]any, len(words))
	for i, w := range words {
		out[i] = w
	}
	return out
}

// kindName is a type as the reference page and messages call it.
func kindName(t reflect.Type) string {
	switch {
	case t == textType:
		return "text, ${NAME}, file:PATH"
	case t == wordsType:
		return "text or list"
	case t == listenersType:
		return "address, keys, or list of them"
	case isShort(t):
		return "address or keys"
	case isTuple(t):
		return "[share, duration]"
	case isScalar(t):
		kind := reflect.Zero(t).Interface().(written).kind()
		if len(fieldsOf(t)) > 0 {
			kind += " or keys"
		}
		return kind
	}
	if c, ok := reflect.Zero(t).Interface().(choice); ok {
		return strings.Join(c.values(), ", ")
	}
	switch t.Kind() {
	case reflect.Int, reflect.Int64:
		return "whole number"
	case reflect.Float64:
		return "number"
	case reflect.Slice:
		if isNamed(t.Elem()) {
			return "names to keys"
		}
		if t.Elem().Kind() == reflect.Struct && t.Elem() != textType && !isTuple(t.Elem()) && !isShort(t.Elem()) {
			return "list of keys"
		}
		return "list of " + kindName(t.Elem())
	case reflect.Map:
		return "names to " + kindName(t.Elem())
	case reflect.Struct:
		return "keys"
	}
	return "text"
}
