package accesslog

import (
	"bytes"
	"fmt"
	"strconv"
	"time"
)

// pattern is a line with values in fixed surroundings: what a log_format or a
// LogFormat describes.
type pattern struct {
	lead  []byte // before the first value
	steps []step
	more  []string
	keep  []int // the index in more of each step, or -1
}

// step is a value and what ends it.
type step struct {
	name  string // as the format calls it
	value value
	until []byte // empty: the rest of the line
	path  bool   // it ends before the first slash, with nothing between
}

// value takes a value into the entry.
type value func(e *Entry, text []byte) error

// skipped values are of no use to us.
func skipped(*Entry, []byte) error { return nil }

// tooMany bounds a format: no server logs that many values.
const tooMany = 200

// add appends a value; literal is what follows it.
func (p *pattern) add(name string, v value, more bool) {
	keep := -1
	if more {
		keep = len(p.more)
		p.more = append(p.more, name)
	}
	p.steps = append(p.steps, step{name: name, value: v})
	p.keep = append(p.keep, keep)
}

// literal appends text that stands as it is.
func (p *pattern) literal(text []byte) {
	if len(p.steps) == 0 {
		p.lead = append(p.lead, text...)
		return
	}
	s := &p.steps[len(p.steps)-1]
	s.until = append(s.until, text...)
}

// finish checks what can be told before the first line.
func (p *pattern) finish() error {
	if len(p.steps) == 0 {
		return fmt.Errorf("it has no values")
	}
	if len(p.steps) > tooMany {
		return fmt.Errorf("it has %d values, more than %d", len(p.steps), tooMany)
	}
	p.lead = bytes.TrimLeft(p.lead, " \t")
	last := &p.steps[len(p.steps)-1]
	last.until = bytes.TrimRight(last.until, " \t")
	for i := range p.steps[:len(p.steps)-1] {
		s, next := &p.steps[i], p.steps[i+1].name
		if len(s.until) > 0 {
			continue
		}
		switch next {
		case "request_uri", "uri", "path", "document_uri", "%U":
			s.path = true
		default:
			return fmt.Errorf("nothing stands between %s and %s, so nobody can tell where one ends", s.name, next)
		}
	}
	return nil
}

// More returns the names of the values that a mapping may ask for besides
// Columns.
func (p *pattern) More() []string { return p.more }

// Parse implements Parser.
func (p *pattern) Parse(line []byte, e *Entry) error {
	e.reset()
	rest, ok := bytes.CutPrefix(line, p.lead)
	if !ok {
		return fmt.Errorf("it does not begin with %q", p.lead)
	}
	for range p.more {
		e.More = append(e.More, nil)
	}
	for i := range p.steps {
		s := &p.steps[i]
		end, skip := s.find(rest)
		if end < 0 {
			return fmt.Errorf("%s is not followed by %q", s.name, s.until)
		}
		text := rest[:end]
		rest = rest[end+skip:]
		if k := p.keep[i]; k >= 0 {
			e.More[k] = text
		}
		if err := s.value(e, text); err != nil {
			if err == ErrNoRequest {
				return err
			}
			return fmt.Errorf("%s: %w", s.name, err)
		}
	}
	if len(rest) > 0 {
		return fmt.Errorf("%q follows the last value", clip(rest))
	}
	if e.At == 0 {
		return fmt.Errorf("it has no time")
	}
	return nil
}

// find returns where the value ends, and how much stands between it and the next.
func (s *step) find(rest []byte) (end, skip int) {
	switch {
	case s.path:
		if i := bytes.IndexByte(rest, '/'); i >= 0 {
			return i, 0
		}
		return -1, 0
	case len(s.until) == 0:
		return len(rest), 0
	case s.until[0] != '"':
		return bytes.Index(rest, s.until), len(s.until)
	}
	// A quoted value may hold an escaped quote.
	for from := 0; ; {
		i := bytes.Index(rest[from:], s.until)
		if i < 0 {
			return -1, 0
		}
		i += from
		slashes := 0
		for slashes < i && rest[i-1-slashes] == '\\' {
			slashes++
		}
		if slashes%2 == 0 {
			return i, len(s.until)
		}
		from = i + 1
	}
}

// stamp is a value that is the time of a request.
func stamp(parse func([]byte) (int64, time.Duration, error), atEnd bool) value {
	return func(e *Entry, text []byte) error {
		ns, coarse, err := parse(text)
		if err != nil {
			return err
		}
		if e.At == 0 || coarse < e.Coarse { // of two stamps the finer one counts
			e.At, e.Coarse, e.AtEnd = ns, coarse, atEnd
		}
		return nil
	}
}

func unix(unit int64) func([]byte) (int64, time.Duration, error) {
	return func(text []byte) (int64, time.Duration, error) { return parseUnix(text, unit) }
}

// took is a value that says how long the request took.
func took(unit int64) value {
	return func(e *Entry, text []byte) (err error) {
		if empty(text) {
			return nil
		}
		n, err := parseLength(text, unit)
		if err == nil && (e.Took < 0 || unit < 1e9) { // %D is finer than %T
			e.Took = n
		}
		return err
	}
}

// listed is how long the services behind worked, one after the other: 0.1, 0.2 :
// 0.3, with - for one that did not.
func listed(e *Entry, text []byte) error {
	sum, any := int64(0), false
	for len(text) > 0 {
		var part []byte
		if i := bytes.IndexAny(text, ",:"); i >= 0 {
			part, text = text[:i], text[i+1:]
		} else {
			part, text = text, nil
		}
		if part = bytes.TrimSpace(part); empty(part) {
			continue
		}
		n, err := parseLength(part, 1e9)
		if err != nil {
			return err
		}
		sum, any = min(sum+n, int64(longest)), true
	}
	if any {
		e.Service = sum
	}
	return nil
}

func status(e *Entry, text []byte) error {
	if empty(text) {
		return nil
	}
	n, err := strconv.Atoi(string(text))
	if err != nil || n < -1 || n > 999 {
		return badValue("status", text)
	}
	e.Status = max(n, 0)
	return nil
}

func sent(e *Entry, text []byte) (err error) {
	if empty(text) {
		return nil
	}
	e.Bytes, err = parseCount(text)
	return err
}

func received(e *Entry, text []byte) (err error) {
	if empty(text) {
		return nil
	}
	e.RequestBytes, err = parseCount(text)
	return err
}

func request(e *Entry, text []byte) error { return e.setRequest(text) }
func target(e *Entry, text []byte) error  { return e.setTarget(text) }
func client(e *Entry, text []byte) error  { e.Client = known(text); return nil }
func user(e *Entry, text []byte) error    { e.User = known(text); return nil }
func session(e *Entry, text []byte) error { e.Session = known(text); return nil }
func tenant(e *Entry, text []byte) error  { e.Tenant = known(text); return nil }
func class(e *Entry, text []byte) error   { e.Class = known(text); return nil }
func method(e *Entry, text []byte) error  { e.Method = known(text); return nil }
func host(e *Entry, text []byte) error    { e.Host = known(text); return nil }

func known(text []byte) []byte {
	if empty(text) {
		return nil
	}
	return text
}
