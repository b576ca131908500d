package trace

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
)

// splitter cuts a line into the values of the file's columns.
type splitter interface {
	names() []string
	split(values [][]byte, line []byte) ([][]byte, error)
}

// layout says how a line is cut into the values of the file's columns.
type layout struct {
	columns   []string
	delimiter byte // 0: a JSON object a line
}

func (l *layout) names() []string { return l.columns }

// split appends the values of a line to values, in the order of the columns. A
// JSON object's missing or null member is an empty value.
func (l *layout) split(values [][]byte, line []byte) ([][]byte, error) {
	if l.delimiter == 0 {
		return l.splitObject(values, line)
	}
	values, err := splitLine(values, line, l.delimiter)
	if err != nil {
		return values, err
	}
	if len(values) != len(l.columns) {
		return values, fmt.Errorf("it has %d values, the header %d", len(values), len(l.columns))
	}
	return values, nil
}

// splitLine cuts at the delimiter. A value in double quotes may hold it, and a
// doubled quote is a quote; a value does not go on in the next line, so that one
// lost quote cannot swallow the file.
func splitLine(values [][]byte, line []byte, delimiter byte) ([][]byte, error) {
	for {
		if len(line) > 0 && line[0] == '"' {
			value, rest, err := unquote(line[1:])
			if err != nil {
				return values, err
			}
			values = append(values, value)
			if len(rest) == 0 {
				return values, nil
			}
			if rest[0] != delimiter {
				return values, errors.New("text follows a closing quote")
			}
			line = rest[1:]
			continue
		}
		i := bytes.IndexByte(line, delimiter)
		if i < 0 {
			return append(values, bytes.TrimSpace(line)), nil
		}
		values = append(values, bytes.TrimSpace(line[:i]))
		line = line[i+1:]
	}
}

// unquote reads up to the closing quote.
func unquote(text []byte) (value, rest []byte, err error) {
	for i := 0; i < len(text); i++ {
		if text[i] != '"' {
			continue
		}
		if i+1 < len(text) && text[i+1] == '"' {
			i++
			continue
		}
		return bytes.ReplaceAll(text[:i], []byte(`""`), []byte(`"`)), text[i+1:], nil
	}
	return nil, nil, errors.New("a quote is not closed")
}

func (l *layout) splitObject(values [][]byte, line []byte) ([][]byte, error) {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(line, &members); err != nil {
		return values, fmt.Errorf("it is no JSON object: %w", err)
	}
	for _, c := range l.columns {
		value := []byte(members[c])
		switch {
		case bytes.Equal(value, []byte("null")):
			value = nil
		case len(value) > 0 && value[0] == '"':
			var text string
			if err := json.Unmarshal(value, &text); err != nil {
				return values, fmt.Errorf("%s: %w", c, err)
			}
			value = []byte(text)
		}
		values = append(values, value)
	}
	return values, nil
}

// layoutOf reads the header, or the members of the first object. header is
// false for a file that starts with data; its columns are named 1, 2, 3 ...
func layoutOf(first []byte, header bool) (layout, error) {
	if first[0] == '{' {
		var l layout
		var err error
		l.columns, err = memberNames(first)
		return l, err
	}
	l := layout{delimiter: ','}
	for _, d := range []byte{'\t', ';'} {
		if bytes.Count(first, []byte{d}) > bytes.Count(first, []byte{l.delimiter}) {
			l.delimiter = d
		}
	}
	values, err := splitLine(nil, first, l.delimiter)
	for i, v := range values {
		if header {
			l.columns = append(l.columns, string(v))
		} else {
			l.columns = append(l.columns, fmt.Sprint(i+1))
		}
	}
	return l, err
}

// memberNames returns the names of an object's members in their order.
func memberNames(object []byte) ([]string, error) {
	d := json.NewDecoder(bytes.NewReader(object))
	if _, err := d.Token(); err != nil {
		return nil, err
	}
	var names []string
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return nil, err
		}
		names = append(names, name.(string)) // JSON's grammar: a member starts with a string
		var skipped json.RawMessage
		if err := d.Decode(&skipped); err != nil {
			return nil, err
		}
	}
	return names, nil
}
