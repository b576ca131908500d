package compare

import (
	"bytes"
	"encoding/json"
	"io"
	"slices"
	"strconv"
	"strings"
)

// way leads to a value in a JSON document: names of members, places in lists. Of no
// steps it is all of it.
type way []string

func wayOf(text string) way {
	if text == "." {
		return way{}
	}
	return strings.Split(text, ".")
}

// in follows the way in a document.
func (w way) in(body []byte) (any, bool) {
	d := json.NewDecoder(bytes.NewReader(body))
	d.UseNumber() // ids may be larger than a float64 is exact
	var v any
	if d.Decode(&v) != nil {
		return nil, false
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, false
	}
	return w.from(v)
}

// from follows it from a value.
func (w way) from(v any) (any, bool) {
	for _, step := range w {
		switch in := v.(type) {
		case map[string]any:
			next, ok := in[step]
			if !ok {
				return nil, false
			}
			v = next
		case []any:
			i, err := strconv.Atoi(step)
			if err != nil || i < 0 || i >= len(in) {
				return nil, false
			}
			v = in[i]
		default:
			return nil, false
		}
	}
	return v, true
}

// textOf is what a number or a text says.
func textOf(v any) (string, bool) {
	switch v := v.(type) {
	case json.Number:
		return v.String(), true
	case string:
		return v, true
	}
	return "", false
}

// canonical is a text that two values share if they are equal: members in any order,
// numbers however they are written.
func canonical(v any) string { return string(appendCanonical(nil, v)) }

func appendCanonical(b []byte, v any) []byte {
	switch v := v.(type) {
	case map[string]any:
		names := make([]string, 0, len(v))
		for name := range v { // order does not matter: they are sorted
			names = append(names, name)
		}
		slices.Sort(names)
		b = append(b, '{')
		for _, name := range names {
			b = strconv.AppendQuote(b, name)
			b = append(appendCanonical(append(b, ':'), v[name]), ',')
		}
		return append(b, '}')
	case []any:
		b = append(b, '[')
		for _, one := range v {
			b = append(appendCanonical(b, one), ',')
		}
		return append(b, ']')
	case json.Number:
		return append(b, plain(v.String())...)
	case string:
		return strconv.AppendQuote(b, v)
	case bool:
		return strconv.AppendBool(b, v)
	}
	return append(b, "null"...)
}

// exactDigits is how many digits a float64 holds whatever they are.
const exactDigits = 15

// plain is a number as another spelling of it would be. One of more digits than a
// float64 holds is what it is written as.
func plain(text string) string {
	if f, err := strconv.ParseFloat(text, 64); err == nil && len(text) <= exactDigits {
		return strconv.FormatFloat(f, 'g', -1, 64)
	}
	return text
}
