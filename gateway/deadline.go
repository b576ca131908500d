package gateway

import (
	"math"
	"net/http"
	"strconv"
	"time"

	"github.com/spillway-dev/spillway/gateway/wire"
)

// The headers in which callers name a deadline, and in which it travels on.
const (
	headerGRPCTimeout   = "Grpc-Timeout"
	headerEnvoyTimeout  = "X-Envoy-Upstream-Rq-Timeout-Ms"
	headerEnvoyExpected = "X-Envoy-Expected-Rq-Timeout-Ms"
)

// passed stands for a deadline that had passed before the request was sent. It
// is no duration that anybody can name.
const passed = time.Duration(-1)

// named is what a caller said of its deadline.
type named struct {
	// left is the smallest time that the caller named, passed if that is none
	// at all, and 0 if it named no time.
	left time.Duration
	// malformed is how many of the headers made no sense and were ignored.
	malformed int
}

// readDeadline reads the three headers. A value that makes no sense is ignored,
// not refused: the class's own deadline governs then, which no caller can
// lengthen by writing nonsense.
func readDeadline(h http.Header) named {
	var n named
	n.take(h[headerGRPCTimeout], parseGRPCTimeout)
	n.take(h[headerEnvoyTimeout], parseMillis)
	n.take(h[headerEnvoyExpected], parseMillis)
	return n
}

func (n *named) take(values []string, parse func(string) (time.Duration, bool)) {
	for _, v := range values {
		d, ok := parse(v)
		switch {
		case !ok:
			n.malformed++
		case d == 0: // no limit
		case n.left == 0 || d < n.left:
			n.left = d
		}
	}
}

// parseGRPCTimeout parses the wire form of gRPC over HTTP/2: one to eight
// digits and a unit. Zero means that no time is left: that is how grpc-go
// sends a deadline that passed on the way.
func parseGRPCTimeout(s string) (time.Duration, bool) {
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
		return passed, true
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

// passDeadline writes what is left into the headers of the call: into those
// that the caller used, and always into x-envoy-expected-rq-timeout-ms. A
// gRPC-timeout covers a whole stream and is therefore never invented for a
// caller that named no deadline: the class's default would cut its streams.
func passDeadline(h http.Header, left time.Duration, grpc, callerNamed bool) {
	left = max(left, time.Millisecond)
	millis := []string{strconv.FormatInt(left.Milliseconds(), 10)}
	h[headerEnvoyExpected] = millis
	if _, ok := h[headerEnvoyTimeout]; ok {
		h[headerEnvoyTimeout] = millis
	}
	if _, ok := h[headerGRPCTimeout]; ok && !callerNamed {
		delete(h, headerGRPCTimeout) // it was malformed
	} else if ok || grpc && callerNamed {
		h[headerGRPCTimeout] = []string{formatGRPCTimeout(left)}
	}
}

// ofDeadline lists the headers that passDeadline writes.
func ofDeadline(name string) bool {
	return name == headerEnvoyExpected || name == headerEnvoyTimeout || name == headerGRPCTimeout
}

// appendDeadline is passDeadline for a request that is put together as text, and
// is not gRPC.
func appendDeadline(b []byte, h http.Header, left time.Duration, callerNamed bool) []byte {
	left = max(left, time.Millisecond)
	var digits [20]byte
	millis := string(strconv.AppendInt(digits[:0], left.Milliseconds(), 10))
	b = wire.AppendField(b, headerEnvoyExpected, millis)
	if _, ok := h[headerEnvoyTimeout]; ok {
		b = wire.AppendField(b, headerEnvoyTimeout, millis)
	}
	if _, ok := h[headerGRPCTimeout]; ok && callerNamed {
		b = wire.AppendField(b, headerGRPCTimeout, formatGRPCTimeout(left))
	}
	return b
}

// formatGRPCTimeout renders a duration in the finest unit that fits into eight
// digits, rounded down: nobody is promised time that is not there.
func formatGRPCTimeout(d time.Duration) string {
	units := []struct {
		name string
		size time.Duration
	}{{"n", 1}, {"u", time.Microsecond}, {"m", time.Millisecond}, {"S", time.Second}, {"M", time.Minute}, {"H", time.Hour}}
	for _, u := range units {
		if n := d / u.size; n < 1e8 {
			return strconv.FormatInt(int64(n), 10) + u.name
		}
	}
	return "99999999H"
}
