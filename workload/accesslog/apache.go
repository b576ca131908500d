package accesslog

import (
	"errors"
	"fmt"
	"strings"
	"time"
)

// apacheFormat reads a LogFormat, alone or with the directive around it. %t is
// when a request was received, %{end:...}t when it ended.
func apacheFormat(text string) (*pattern, error) {
	text = strings.TrimSpace(text)
	if rest, is := strings.CutPrefix(text, "LogFormat"); is {
		from, to := strings.IndexByte(rest, '"'), strings.LastIndexByte(rest, '"')
		if from < 0 || to == from {
			return nil, errors.New("a LogFormat has its format in double quotes")
		}
		text = rest[from+1 : to]
	}
	text = strings.ReplaceAll(text, `\"`, `"`)
	p, timed := &pattern{}, false
	for text != "" {
		i := strings.IndexByte(text, '%')
		if i < 0 {
			p.literal([]byte(text))
			break
		}
		p.literal([]byte(text[:i]))
		d, rest, err := readDirective(text[i:])
		if err != nil {
			return nil, err
		}
		text = rest
		if d.letter == "%" {
			p.literal([]byte("%"))
			continue
		}
		if d.letter == "t" {
			timed = true
			if err := p.addTime(d); err != nil {
				return nil, err
			}
			continue
		}
		if n := len(p.steps); d.letter == "q" && n > 0 && p.steps[n-1].name == "%U" && len(p.steps[n-1].until) == 0 {
			continue // the query goes with the path, and is cut off there
		}
		v, known := d.value()
		name := d.argument
		if name == "" {
			name = d.text
		}
		if d.letter == "U" {
			name = "%U"
		}
		p.add(name, v, !known)
	}
	if !timed {
		return nil, errors.New("it has no time: %t")
	}
	return p, p.finish()
}

// directive is one %...x of a LogFormat.
type directive struct {
	text     string // as written
	argument string // in braces
	letter   string // with ^ti, ^to where it is one
}

func readDirective(text string) (d directive, rest string, err error) {
	n := 1
	for n < len(text) && (strings.IndexByte("<>!,", text[n]) >= 0 || text[n] >= '0' && text[n] <= '9') {
		n++ // modifiers: which of two requests, or for which statuses
	}
	if n < len(text) && text[n] == '{' {
		end := strings.IndexByte(text[n:], '}')
		if end < 0 {
			return d, "", errors.New("a %{ is not closed")
		}
		d.argument, n = text[n+1:n+end], n+end+1
	}
	size := 1
	if n < len(text) && text[n] == '^' {
		size = 3
	}
	if n+size > len(text) {
		return d, "", errors.New("a % stands before no letter")
	}
	d.letter = text[n : n+size]
	d.text = text[:n+size]
	return d, text[n+size:], nil
}

// value returns what is done with the directive's value, and whether it means
// something here.
func (d directive) value() (value, bool) {
	switch d.letter {
	case "h", "a":
		if d.argument == "" || d.argument == "c" {
			return client, true
		}
	case "u":
		return user, true
	case "r":
		return request, true
	case "m":
		return method, true
	case "U":
		return target, true
	case "v", "V":
		return host, true
	case "s":
		return status, true
	case "b", "B", "O":
		return sent, true
	case "I":
		return received, true
	case "D":
		return took(1e3), true
	case "T":
		switch d.argument {
		case "", "s":
			return took(1e9), true
		case "ms":
			return took(1e6), true
		case "us":
			return took(1e3), true
		}
	case "i":
		if strings.EqualFold(d.argument, "Host") {
			return host, true
		}
	}
	return skipped, false
}

// addTime adds %t in any of its forms.
func (p *pattern) addTime(d directive) error {
	form, atEnd := d.argument, false
	if rest, is := strings.CutPrefix(form, "begin:"); is {
		form = rest
	} else if rest, is := strings.CutPrefix(form, "end:"); is {
		form, atEnd = rest, true
	}
	switch form {
	case "":
		p.literal([]byte("["))
		p.add(d.text, stamp(parseCommon, atEnd), false)
		p.literal([]byte("]"))
	case "sec":
		p.add(d.text, stamp(unix(1e9), atEnd), false)
	case "msec":
		p.add(d.text, stamp(unix(1e6), atEnd), false)
	case "usec":
		p.add(d.text, stamp(unix(1e3), atEnd), false)
	case "msec_frac":
		p.add(d.text, fraction(1e6), false)
	case "usec_frac":
		p.add(d.text, fraction(1e3), false)
	default:
		layout, err := strftime(form)
		if err != nil {
			return fmt.Errorf("%s: %w", d.text, err)
		}
		p.add(d.text, stamp(func(text []byte) (int64, time.Duration, error) { return parseLayout(text, layout) }, atEnd), false)
	}
	return nil
}

// fraction adds the part of a second that a stamp leaves out.
func fraction(unit int64) value {
	return func(e *Entry, text []byte) error {
		n, err := parseLength(text, unit)
		if err == nil && n < 1e9 {
			e.At, e.Coarse = e.At+n, 0
		}
		return err
	}
}

// strftime turns the conversions of a date and time into a layout of package
// time.
func strftime(form string) (string, error) {
	var b strings.Builder
	for i := 0; i < len(form); i++ {
		if form[i] != '%' {
			b.WriteByte(form[i])
			continue
		}
		if i++; i == len(form) {
			return "", errors.New("a % stands at the end")
		}
		layout, known := conversions[form[i]]
		if !known {
			return "", fmt.Errorf("%%%c is not understood in a time", form[i])
		}
		b.WriteString(layout)
	}
	return b.String(), nil
}

var conversions = map[byte]string{
	'Y': "2006", 'm': "01", 'd': "02", 'e': "_2", 'b': "Jan", 'h': "Jan", 'B': "January", 'y': "06",
	'H': "15", 'I': "03", 'p': "PM", 'M': "04", 'S': "05", 'z': "-0700", 'Z': "MST",
	'F': "2006-01-02", 'T': "15:04:05", 'R': "15:04", 'D': "01/02/06", 'a': "Mon", 'A': "Monday", 'j': "002",
}
