package provider

import (
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/spillway-dev/spillway/policy/heed"
	"github.com/spillway-dev/spillway/policy/quota"
)

// Told is what a provider says is left of its limits, by unit.
type Told [quota.Units]Left

// Left is what is left of one limit.
type Left = heed.Left

// WaitMost is the longest wait that is believed. What is longer counts as this: a
// limit of a month is asked again tomorrow.
const WaitMost = heed.PauseLongest

// Limits reads one limit of the header: what is left as a whole number, else nothing
// is said of it; how much it is; and when it is full again ([Wait]).
func Limits(limit, left, reset string, now time.Time) Left {
	n, err := strconv.ParseInt(left, 10, 64)
	if err != nil || n < 0 {
		return Left{} // some services say -1 where they do not know
	}
	l := Left{Said: true, Left: n}
	if m, err := strconv.ParseInt(limit, 10, 64); err == nil && m > 0 {
		l.Limit = m
	}
	l.Full, _ = Wait(reset, now)
	return l
}

// Wait reads how long to wait, in any of the ways in which services write it: an
// instant (RFC 3339, or a date of HTTP), a duration with units (6m0s, 2m59.56s, 1d2h,
// 500ms), seconds, whole or not, or an instant in seconds since 1970. What is none of
// them, or below 0, is no wait; an instant that has passed is one of 0. At most
// [WaitMost].
func Wait(text string, now time.Time) (time.Duration, bool) {
	text = strings.TrimSpace(text)
	if text == "" || len(text) > 64 {
		return 0, false
	}
	for _, layout := range []string{time.RFC3339Nano, time.RFC1123, time.RFC1123Z, time.RFC850, time.ANSIC} {
		if at, err := time.Parse(layout, text); err == nil {
			return capped(at.Sub(now).Seconds())
		}
	}
	if n, ok := number(text); ok {
		if n >= epochLeast {
			return capped(n - float64(now.UnixNano())/1e9)
		}
		return capped(n)
	}
	days, rest, found := strings.Cut(text, "d")
	n, whole := number(days)
	switch {
	case !found:
		rest, n = text, 0
	case !whole || n != math.Trunc(n):
		return 0, false
	case rest == "":
		return capped(n * 86400)
	}
	d, err := time.ParseDuration(rest)
	if err != nil || d < 0 || strings.ContainsAny(rest, "+-") {
		return 0, false
	}
	return capped(n*86400 + d.Seconds())
}

// Millis reads a wait in milliseconds.
func Millis(text string) (time.Duration, bool) {
	n, ok := number(strings.TrimSpace(text))
	if !ok {
		return 0, false
	}
	return capped(n / 1000)
}

// epochLeast is the smallest number of seconds that is an instant: 2001.
const epochLeast = 1e9

// number reads a decimal number that is not negative: digits, and a fraction.
func number(text string) (float64, bool) {
	if text == "" || len(text) > 32 || strings.Trim(text, "0123456789.") != "" {
		return 0, false
	}
	n, err := strconv.ParseFloat(text, 64)
	return n, err == nil
}

func capped(seconds float64) (time.Duration, bool) {
	switch {
	case math.IsNaN(seconds):
		return 0, false
	case seconds <= 0:
		return 0, true
	case seconds >= WaitMost.Seconds():
		return WaitMost, true
	}
	return time.Duration(math.Ceil(seconds * 1e9)), true
}
