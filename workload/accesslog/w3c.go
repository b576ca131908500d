package accesslog

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// w3c reads the W3C extended log format: #Fields says what the columns are, and
// may say it anew. Times are UTC and of the request's end. IIS' time-taken is in
// milliseconds; the standard's is in seconds.
type w3c struct {
	fields []string
	date   []byte // of #Date, for logs whose lines have a time only
	millis bool
}

func (*w3c) More() []string { return nil }

// Parse implements Parser.
func (w *w3c) Parse(line []byte, e *Entry) error {
	e.reset()
	if line[0] == '#' {
		return w.directive(string(line))
	}
	if w.fields == nil {
		return errors.New("no #Fields line stands before it")
	}
	var date, clock, taken []byte
	n := 0
	for rest := line; len(rest) > 0; n++ {
		if n == len(w.fields) {
			return fmt.Errorf("it has more values than the %d of #Fields", n)
		}
		var text []byte
		text, rest = nextField(rest)
		var err error
		switch w.fields[n] {
		case "date":
			date = text
		case "time":
			clock = text
		case "time-taken":
			taken = text
		case "c-ip", "x-client-ip":
			e.Client = known(text)
		case "cs-username":
			e.User = known(text)
		case "cs-method":
			e.Method = known(text)
		case "cs-host", "cs(host)":
			e.Host = known(text)
		case "cs-uri-stem":
			err = e.setTarget(text)
		case "cs-uri-query":
			e.Query = known(text)
		case "cs-uri":
			if len(e.Path) == 0 {
				err = e.setTarget(text)
			}
		case "sc-status":
			err = status(e, text)
		case "sc-bytes":
			err = sent(e, text)
		case "cs-bytes":
			err = received(e, text)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", w.fields[n], err)
		}
	}
	if n < len(w.fields) {
		return fmt.Errorf("it has %d values, #Fields %d", n, len(w.fields))
	}
	return w.times(e, date, clock, taken)
}

// nextField cuts at a space or tab; a value in double quotes may hold one.
func nextField(rest []byte) (text, after []byte) {
	if rest[0] == '"' {
		if end := bytes.IndexByte(rest[1:], '"'); end >= 0 {
			return rest[1 : 1+end], bytes.TrimLeft(rest[2+end:], " \t")
		}
	}
	end := bytes.IndexAny(rest, " \t")
	if end < 0 {
		return rest, nil
	}
	return rest[:end], bytes.TrimLeft(rest[end:], " \t")
}

func (w *w3c) times(e *Entry, date, clock, taken []byte) (err error) {
	if date == nil {
		date = w.date
	}
	var room [48]byte
	text := append(append(append(room[:0], date...), ' '), clock...)
	if e.At, e.Coarse, err = parseISO(text); err != nil {
		return fmt.Errorf("date and time: %w", err)
	}
	e.AtEnd = true
	if empty(taken) {
		return nil
	}
	unit := int64(1e9)
	if w.millis {
		unit = 1e6
	}
	if e.Took, err = parseLength(taken, unit); err != nil {
		e.Took = -1
		return fmt.Errorf("time-taken: %w", err)
	}
	return nil
}

// directive takes a line that begins with #.
func (w *w3c) directive(line string) error {
	name, value, _ := strings.Cut(line[1:], ":")
	value = strings.TrimSpace(value)
	switch strings.ToLower(strings.TrimSpace(name)) {
	case "software":
		w.millis = strings.Contains(value, "Microsoft") || strings.Contains(value, "IIS")
	case "date":
		if len(value) >= 10 {
			w.date = []byte(value[:10])
		}
	case "fields":
		fields := strings.Fields(strings.ToLower(value))
		switch {
		case len(fields) > tooMany:
			return fmt.Errorf("#Fields has %d fields, more than %d", len(fields), tooMany)
		case !slices.Contains(fields, "time"):
			return errors.New("#Fields has no time")
		case !slices.Contains(fields, "cs-uri-stem") && !slices.Contains(fields, "cs-uri"):
			return errors.New("#Fields has no cs-uri-stem: it is no log of requests")
		}
		w.fields = fields
	}
	return ErrNoRequest
}
