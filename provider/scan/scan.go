package scan

import (
	"bytes"
	"encoding/json"
	"iter"
	"strconv"
)

// Object yields the members of an object, in order, each key as it means (escapes
// resolved) and each value as it stands. Of what is no object it yields nothing.
func Object(doc []byte) iter.Seq2[[]byte, []byte] {
	return func(yield func(key, value []byte) bool) { object(doc, yield) }
}

// Array yields the elements of an array, in order. Of what is no array it yields
// nothing.
func Array(doc []byte) iter.Seq[[]byte] {
	return func(yield func(value []byte) bool) { array(doc, yield) }
}

// Member returns the value of the last member with that key, nil if there is none.
// The last is the one that decoders keep.
func Member(doc []byte, key string) (value []byte) {
	for k, v := range Object(doc) {
		if string(k) == key {
			value = v
		}
	}
	return value
}

// Path is Member, one object further down for each key.
func Path(doc []byte, keys ...string) []byte {
	for _, k := range keys {
		doc = Member(doc, k)
	}
	return doc
}

// Int returns a value that is a whole number, as it may also be written (12.0,
// 1e3); false for all else and for what does not fit.
func Int(value []byte) (int64, bool) {
	if len(value) == 0 || value[0] != '-' && (value[0] < '0' || value[0] > '9') {
		return 0, false
	}
	if n, err := strconv.ParseInt(string(value), 10, 64); err == nil {
		return n, true
	}
	f, err := strconv.ParseFloat(string(value), 64)
	if n := int64(f); err == nil && f > -1<<53 && f < 1<<53 && float64(n) == f {
		return n, true
	}
	return 0, false
}

// Text returns a value that is a string, escapes resolved; false for all else.
func Text(value []byte) (string, bool) {
	raw, ok := Raw(value)
	if !ok {
		return "", false
	}
	if bytes.IndexByte(raw, '\\') < 0 {
		return string(raw), true
	}
	var s string
	return s, json.Unmarshal(value, &s) == nil
}

// Raw returns what stands between the quotes of a value that is a string.
func Raw(value []byte) ([]byte, bool) {
	if n := len(value); n >= 2 && value[0] == '"' && value[n-1] == '"' {
		return value[1 : n-1], true
	}
	return nil, false
}

// Is reports whether a value is the string s, or s is one of its spellings.
func Is(value []byte, s string) bool {
	raw, ok := Raw(value)
	if !ok || string(raw) == s {
		return ok
	}
	if bytes.IndexByte(raw, '\\') < 0 {
		return false
	}
	text, _ := Text(value)
	return text == s
}

// Null reports whether a value is null, or is not there.
func Null(value []byte) bool { return len(value) == 0 || string(value) == "null" }

// Of returns the first byte of a value, which tells its kind: { [ " t f n, a digit
// or -; 0 for what is not there.
func Of(value []byte) byte {
	if len(value) == 0 {
		return 0
	}
	return value[0]
}

func object(doc []byte, yield func(key, value []byte) bool) {
	i := space(doc, 0)
	if i >= len(doc) || doc[i] != '{' {
		return
	}
	for i = space(doc, i+1); i < len(doc) && doc[i] == '"'; {
		end := str(doc, i)
		key := doc[i+1 : max(end-1, i+1)]
		if i = space(doc, end); i >= len(doc) || doc[i] != ':' {
			return
		}
		i = space(doc, i+1)
		end = value(doc, i)
		if end == i || !yield(plain(key), doc[i:end]) {
			return
		}
		if i = space(doc, end); i >= len(doc) || doc[i] != ',' {
			return
		}
		i = space(doc, i+1)
	}
}

func array(doc []byte, yield func(value []byte) bool) {
	i := space(doc, 0)
	if i >= len(doc) || doc[i] != '[' {
		return
	}
	for i = space(doc, i+1); i < len(doc) && doc[i] != ']'; {
		end := value(doc, i)
		if end == i || !yield(doc[i:end]) {
			return
		}
		if i = space(doc, end); i >= len(doc) || doc[i] != ',' {
			return
		}
		i = space(doc, i+1)
	}
}

// plain returns a key without escapes: "usage" is it too where a part of it is
// written as \u0061.
func plain(key []byte) []byte {
	if bytes.IndexByte(key, '\\') < 0 {
		return key
	}
	s, _ := Text([]byte(`"` + string(key) + `"`))
	return []byte(s)
}

func space(doc []byte, i int) int {
	for i < len(doc) && (doc[i] == ' ' || doc[i] == '\n' || doc[i] == '\t' || doc[i] == '\r') {
		i++
	}
	return i
}

// str returns the end of the string that begins at i: the next quote with an even
// number of backslashes before it.
func str(doc []byte, i int) int {
	begin := i + 1
	for at := begin; at < len(doc); {
		n := bytes.IndexByte(doc[at:], '"')
		if n < 0 {
			break
		}
		end := at + n
		escapes := end
		for escapes > begin && doc[escapes-1] == '\\' {
			escapes--
		}
		if (end-escapes)%2 == 0 {
			return end + 1
		}
		at = end + 1
	}
	return len(doc)
}

// value returns the end of the value that begins at i; i if none does.
func value(doc []byte, i int) int {
	if i >= len(doc) {
		return i
	}
	switch doc[i] {
	case '"':
		return str(doc, i)
	case '{', '[':
		return nested(doc, i)
	}
	for ; i < len(doc); i++ {
		switch doc[i] {
		case ',', '}', ']', ' ', '\n', '\t', '\r', ':', '"', '{', '[':
			return i
		}
	}
	return i
}

// nested returns the end of the object or array that begins at i.
func nested(doc []byte, i int) int {
	for depth := 0; i < len(doc); i++ {
		switch doc[i] {
		case '"':
			i = str(doc, i) - 1
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
	return len(doc)
}
