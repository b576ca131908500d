package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
)

// Number is a figure of a report. It is written with at most six decimals (a
// nanosecond, where the unit is ms) and no exponent, so that the same run gives
// the same bytes. NaN stands for "there is no such figure", a p99 of nobody for
// example, and is written as null: a check against it fails instead of passing
// on a zero that nobody measured.
type Number float64

// None is the figure that does not exist.
func None() Number { return Number(math.NaN()) }

// Known reports whether the figure exists and is finite.
func (n Number) Known() bool { return !math.IsNaN(float64(n)) && !math.IsInf(float64(n), 0) }

// String is the JSON text of n.
func (n Number) String() string {
	if !n.Known() {
		return "null"
	}
	s := strconv.FormatFloat(float64(n), 'f', 6, 64)
	s = strings.TrimRight(strings.TrimRight(s, "0"), ".")
	if s == "-0" {
		return "0"
	}
	return s
}

// MarshalJSON writes n as [Number.String] does.
func (n Number) MarshalJSON() ([]byte, error) { return []byte(n.String()), nil }

// UnmarshalJSON reads a number; null becomes [None].
func (n *Number) UnmarshalJSON(b []byte) error {
	if bytes.Equal(b, []byte("null")) {
		*n = None()
		return nil
	}
	f, err := strconv.ParseFloat(string(b), 64)
	if err != nil {
		return fmt.Errorf("report: %q is not a number", b)
	}
	*n = Number(f)
	return nil
}

// Ms turns nanoseconds into milliseconds, exactly to the nanosecond for every
// duration under three months.
func Ms(ns int64) Number { return Number(float64(ns) / 1e6) }

// PerSecond is count per second over a length of time in seconds; [None] where
// the length is not positive.
func PerSecond(count int64, seconds float64) Number {
	if !(seconds > 0) {
		return None()
	}
	return Number(float64(count) / seconds)
}

// Share is part / whole; [None] of nothing.
func Share(part, whole int64) Number {
	if whole == 0 {
		return None()
	}
	return Number(float64(part) / float64(whole))
}

// WriteJSON writes one document, indented by two spaces and ended by a newline.
// It is what every command does with --json.
func WriteJSON(w io.Writer, document any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(document)
}
