package accesslog

import (
	"bytes"
	"fmt"
	"time"
)

// parseAny reads whatever logs write as a time: CLF, ISO 8601, asctime or Unix
// time in s, ms, us or ns, by its size.
func parseAny(text []byte) (ns int64, coarse time.Duration, err error) {
	switch {
	case len(text) >= 20 && text[2] == '/':
		return parseCommon(text)
	case len(text) >= 19 && text[4] == '-':
		return parseISO(text)
	case len(text) >= 24 && text[3] == ' ':
		return parseLayout(text, time.ANSIC)
	}
	n, err := decimal(text, 1)
	if err != nil {
		return 0, 0, fmt.Errorf("%q is no time that is known: write it as a date, or as Unix time", clip(text))
	}
	switch {
	case n >= 1e17:
		return parseUnix(text, 1)
	case n >= 1e14:
		return parseUnix(text, 1e3)
	case n >= 1e11:
		return parseUnix(text, 1e6)
	}
	return parseUnix(text, 1e9)
}

// lengths are the words that logs write behind a number for a length of time.
var lengths = []struct {
	word string
	unit int64
}{
	{"msecs", 1e6}, {"msec", 1e6}, {"millis", 1e6}, {"ms", 1e6},
	{"micros", 1e3}, {"usecs", 1e3}, {"usec", 1e3}, {"us", 1e3}, {"µs", 1e3},
	{"nanos", 1}, {"ns", 1},
	{"seconds", 1e9}, {"secs", 1e9}, {"sec", 1e9}, {"s", 1e9},
}

// tookWithUnit reads 129 msecs, 1.5s or a number of seconds.
func tookWithUnit(e *Entry, text []byte) (err error) {
	if empty(text) {
		return nil
	}
	unit := int64(1e9)
	for _, l := range lengths {
		if number, is := bytes.CutSuffix(text, []byte(l.word)); is {
			text, unit = bytes.TrimSpace(number), l.unit
			break
		}
	}
	e.Took, err = parseLength(text, unit)
	return err
}
