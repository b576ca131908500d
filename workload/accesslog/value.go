package accesslog

import (
	"bytes"
	"fmt"
	"math"
	"strconv"
	"time"
)

// latest and earliest bound what is taken for the time of a request.
const (
	earliest = 0                 // 1970
	latest   = 7_258_118_400_000 // ms: 2200
	longest  = 366 * 24 * time.Hour
)

func badValue(what string, text []byte) error {
	return fmt.Errorf("%q is no %s", clip(text), what)
}

// clip keeps an error short whatever the line holds.
func clip(text []byte) []byte {
	if len(text) > 60 {
		return append(bytes.Clone(text[:60]), "..."...)
	}
	return text
}

func empty(text []byte) bool { return len(text) == 0 || len(text) == 1 && text[0] == '-' }

// layouts of dates, tried by their length and shape.
const (
	layoutCommon  = "02/Jan/2006:15:04:05 -0700"
	layoutHAProxy = "02/Jan/2006:15:04:05" // and .000
)

// parseCommon reads 17/May/2015:10:05:03 +0000; the zone and a fraction of the
// second may be missing or there.
func parseCommon(text []byte) (ns int64, coarse time.Duration, err error) {
	layout := layoutCommon
	if bytes.IndexByte(text, ' ') < 0 {
		layout = layoutHAProxy
	}
	return parseLayout(text, layout)
}

// parseISO reads RFC 3339 with or without zone and fraction, T or a space.
func parseISO(text []byte) (ns int64, coarse time.Duration, err error) {
	layout := "2006-01-02T15:04:05Z07:00"
	if len(text) > 10 && text[10] == ' ' {
		layout = "2006-01-02 15:04:05Z07:00"
	}
	switch last := len(text) - 1; {
	case last < 18:
	case text[last] == 'Z' || bytes.LastIndexAny(text, "+-") < 10:
		if text[last] != 'Z' {
			layout = layout[:len(layout)-len("Z07:00")]
		}
	case text[last-2] != ':':
		layout = layout[:len(layout)-len("Z07:00")] + "Z0700"
	}
	return parseLayout(text, layout)
}

// parseLayout reads a date, of which a fraction of the second may be there.
func parseLayout(text []byte, layout string) (ns int64, coarse time.Duration, err error) {
	t, err := time.Parse(layout, string(text))
	if err != nil || t.UnixMilli() < earliest || t.UnixMilli() > latest {
		return 0, 0, badValue("time from the years 1970 to 2200 of the form "+layout, text)
	}
	coarse = time.Second
	if bytes.ContainsAny(text, ".,") {
		coarse = 0
	}
	return t.UnixNano(), coarse, nil
}

// parseUnix reads Unix time in units of unit ns.
func parseUnix(text []byte, unit int64) (ns int64, coarse time.Duration, err error) {
	n, err := decimal(text, unit)
	if err != nil || n < earliest || n/1e6 > latest {
		return 0, 0, badValue("Unix time up to the year 2200", text)
	}
	if unit == 1e9 && bytes.IndexByte(text, '.') < 0 {
		coarse = time.Second
	}
	return n, coarse, nil
}

// parseLength reads a length of time in units of unit ns.
func parseLength(text []byte, unit int64) (int64, error) {
	n, err := decimal(text, unit)
	if err != nil || n < 0 || n > int64(longest) {
		return 0, badValue("length of time up to a year", text)
	}
	return n, nil
}

// parseCount reads a number of bytes.
func parseCount(text []byte) (int64, error) {
	n, err := decimal(text, 1)
	if err != nil || n < 0 {
		return 0, badValue("number of bytes", text)
	}
	return n, nil
}

// decimal returns text times unit, rounded towards zero.
func decimal(text []byte, unit int64) (int64, error) {
	whole, fraction, _ := bytes.Cut(text, []byte{'.'})
	n, err := strconv.ParseInt(string(whole), 10, 64)
	if err != nil {
		x, err := strconv.ParseFloat(string(text), 64)
		x = float64(x * float64(unit))
		if err != nil || !(math.Abs(x) < math.MaxInt64/2) || bytes.ContainsAny(text, "xX_pP") {
			return 0, badValue("number", text)
		}
		return int64(x), nil
	}
	if n > math.MaxInt64/2/unit || n < -math.MaxInt64/2/unit {
		return 0, badValue("number of a sensible size", text)
	}
	part, digit := int64(0), unit
	for _, c := range fraction {
		if c < '0' || c > '9' {
			return 0, badValue("number", text)
		}
		digit /= 10 // 0 beyond a nanosecond
		part += int64(c-'0') * digit
	}
	if whole[0] == '-' {
		part = -part
	}
	return n*unit + part, nil
}
