package deadline

import (
	"math"
	"net/http"
	"time"
)

// The headers in which callers name a deadline, and in which it travels on, in canonical
// form.
const (
	HeaderGRPC     = "Grpc-Timeout"
	HeaderUpstream = "X-Envoy-Upstream-Rq-Timeout-Ms"
	HeaderExpected = "X-Envoy-Expected-Rq-Timeout-Ms"
)

// Passed stands for a deadline that had passed before the request was sent. It
// is no duration that anybody can name.
const Passed = time.Duration(-1)

// Named is what a caller said of its deadline.
type Named struct {
	// Left is the smallest time that the caller named, Passed if that is none
	// at all, and 0 if it named no time.
	Left time.Duration
	// Malformed is how many of the values made no sense and were ignored.
	Malformed int
}

// Read reads the three headers.
func Read(h http.Header) Named {
	var n Named
	n.take(h[HeaderGRPC], parseGRPC)
	n.Millis(h[HeaderUpstream])
	n.Millis(h[HeaderExpected])
	return n
}

// Millis takes values of one of Envoy's two headers into account.
func (n *Named) Millis(values []string) { n.take(values, parseMillis) }

func (n *Named) take(values []string, parse func(string) (time.Duration, bool)) {
	for _, v := range values {
		d, ok := parse(v)
		switch {
		case !ok:
			n.Malformed++
		case d == 0: // no limit
		default:
			n.Left = Sooner(n.Left, d)
		}
	}
}

// Sooner returns the smaller of two times that are left, of which 0 is none named.
func Sooner(a, b time.Duration) time.Duration {
	if a == 0 || b != 0 && b < a {
		return b
	}
	return a
}

// parseGRPC parses the wire form of gRPC over HTTP/2: one to eight digits and a unit.
// Zero means that no time is left: that is how grpc-go sends a deadline that passed on
// the way.
func parseGRPC(s string) (time.Duration, bool) {
	if len(s) < 2 || len(s) > 9 {
		return 0, false
	}
	var unit time.Duration
	switch s[len(s)-1] {
	case 'H':
		unit = time.Hour
	case 'M':
		unit = time.Minute
	case 'S':
		unit = time.Second
	case 'm':
		unit = time.Millisecond
	case 'u':
		unit = time.Microsecond
	case 'n':
		unit = time.Nanosecond
	default:
		return 0, false
	}
	n, ok := digits(s[:len(s)-1])
	switch {
	case !ok:
		return 0, false
	case n == 0:
		return Passed, true
	case n > math.MaxInt64/int64(unit):
		return math.MaxInt64, true
	}
	return time.Duration(n) * unit, true
}

// parseMillis parses a whole number of milliseconds, of at most twelve digits.
// Zero means no limit, as it does to Envoy.
func parseMillis(s string) (time.Duration, bool) {
	if len(s) > 12 {
		return 0, false
	}
	n, ok := digits(s)
	return time.Duration(n) * time.Millisecond, ok
}

func digits(s string) (int64, bool) {
	if s == "" {
		return 0, false
	}
	var n int64
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return 0, false
		}
		n = n*10 + int64(s[i]-'0')
	}
	return n, true
}
