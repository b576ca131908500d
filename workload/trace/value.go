package trace

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"math/bits"
	"strconv"
	"time"
)

// unit is nanoseconds in one of a column's numbers; 0 is not said.
type unit int64

var units = map[string]unit{"ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9, "m": 60e9, "h": 3600e9}

// parseInstant reads a date and time, UTC where it names no zone, or a number of
// this unit. A number without one is Unix time in s, ms, us or ns, by its size,
// or seconds from some start. dated says that it was a date or Unix time.
func parseInstant(text []byte, u unit) (ns int64, dated bool, err error) {
	if len(text) >= len("2006-01-02 15:04") && text[4] == '-' {
		ns, err = parseDate(text)
		return ns, true, err
	}
	whole, err := decimal(text, 1)
	if err != nil {
		return 0, false, err
	}
	if u == 0 {
		switch {
		case whole >= 1e17:
			u = 1
		case whole >= 1e14:
			u = 1e3
		case whole >= 1e11:
			u = 1e6
		default:
			u = 1e9
		}
	}
	ns, err = decimal(text, u)
	return ns, ns >= 1e17, err // Unix time since 1973: no recording lasts three years
}

// parseDate reads RFC 3339 with up to nine digits of a second, a space being as
// good as its T, and zone and seconds left out where need be.
func parseDate(text []byte) (int64, error) {
	var room [48]byte
	b := append(room[:0], text...)
	if b[10] == ' ' {
		b[10] = 'T'
	}
	if len(b) == len("2006-01-02T15:04") {
		b = append(b, ":00"...)
	}
	if last := b[len(b)-1]; last != 'Z' && bytes.LastIndexAny(b, "+-") < len("2006-01-02T") {
		b = append(b, 'Z')
	}
	t, err := time.Parse(time.RFC3339, string(b))
	if err != nil || t.Year() < 1970 || t.Year() > 2200 {
		return 0, fmt.Errorf("%q is no time from the years 1970 to 2200", clip(text))
	}
	return t.UnixNano(), nil
}

// parseLength reads 1.5s or a number of this unit, seconds if none is said.
func parseLength(text []byte, u unit) (int64, error) {
	if u == 0 {
		u = 1e9
	}
	ns, err := decimal(text, u)
	if err != nil {
		if d, isDuration := time.ParseDuration(string(text)); isDuration == nil {
			return int64(d), nil
		}
	}
	return ns, err
}

// decimal returns text times u, rounded towards zero, exactly: 1.1 s is
// 1,100,000,000 ns, which a float64 between the two would not promise.
func decimal(text []byte, u unit) (int64, error) {
	digits, negative := text, false
	if len(digits) > 0 && (digits[0] == '-' || digits[0] == '+') {
		negative, digits = digits[0] == '-', digits[1:]
	}
	whole, fraction, _ := bytes.Cut(digits, []byte{'.'})
	if len(whole)+len(fraction) == 0 {
		return 0, notANumber(text)
	}
	var n int64
	for _, c := range whole {
		if c < '0' || c > '9' {
			return scientific(text, u)
		}
		if n > (math.MaxInt64-9)/10 {
			return 0, tooLarge(text)
		}
		n = n*10 + int64(c-'0')
	}
	if n > math.MaxInt64/2/int64(u) {
		return 0, tooLarge(text)
	}
	n *= int64(u)
	part, scale := uint64(0), uint64(1)
	for _, c := range fraction {
		if c < '0' || c > '9' {
			return scientific(text, u)
		}
		if scale < 1e15 { // further digits are less than a nanosecond of any unit
			part, scale = part*10+uint64(c-'0'), scale*10
		}
	}
	high, low := bits.Mul64(part, uint64(u))
	beyond, _ := bits.Div64(high, low, scale) // part < scale, so it fits
	n += int64(beyond)
	if negative {
		n = -n
	}
	return n, nil
}

// scientific reads what decimal does not: 1e-05, as some languages print.
func scientific(text []byte, u unit) (int64, error) {
	x, err := strconv.ParseFloat(string(text), 64)
	if err != nil || bytes.ContainsAny(text, "xX_") {
		return 0, notANumber(text)
	}
	x = float64(x * float64(u))
	if !(math.Abs(x) < math.MaxInt64/2) {
		return 0, tooLarge(text)
	}
	return int64(x), nil
}

func notANumber(text []byte) error {
	if len(text) == 0 {
		return errors.New("the value is empty")
	}
	return fmt.Errorf("%q is no number", clip(text))
}

func tooLarge(text []byte) error { return fmt.Errorf("%s is too large", clip(text)) }

// clip keeps an error short and printable whatever the file holds.
func clip(text []byte) []byte {
	if len(text) > 40 {
		return append(bytes.Clone(text[:40]), "..."...)
	}
	return text
}
