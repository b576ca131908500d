package deadline

import (
	"net/http"
	"strconv"
	"time"
)

// Write writes what is left of a caller's wait into the headers of a call made for it,
// rounded down, at least a millisecond: always into x-envoy-expected-rq-timeout-ms, and
// into those of the others that are there.
//
// A grpc-timeout covers a whole stream, of which a deadline here is met when the answer
// begins, and is therefore never made up for a caller that named none; grpc says that the
// call is gRPC, in which one that a caller named otherwise may become one. Where none was
// named a grpc-timeout that is there was malformed, and goes.
func Write(h http.Header, left time.Duration, grpc, named bool) {
	millis := []string{Millis(left)}
	h[HeaderExpected] = millis
	if _, ok := h[HeaderUpstream]; ok {
		h[HeaderUpstream] = millis
	}
	if _, ok := h[HeaderGRPC]; ok && !named {
		delete(h, HeaderGRPC)
	} else if ok || grpc && named {
		h[HeaderGRPC] = []string{GRPC(left)}
	}
}

// Written lists the headers that Write writes.
func Written(name string) bool {
	return name == HeaderExpected || name == HeaderUpstream || name == HeaderGRPC
}

// Millis renders what is left as Envoy's headers have it.
func Millis(left time.Duration) string { return string(AppendMillis(nil, left)) }

// AppendMillis appends what Millis renders.
func AppendMillis(b []byte, left time.Duration) []byte {
	return strconv.AppendInt(b, max(left, time.Millisecond).Milliseconds(), 10)
}

// GRPC renders what is left, at least a millisecond, as a grpc-timeout: in the finest
// unit that fits into eight digits, rounded down, for nobody is promised time that is not
// there.
func GRPC(left time.Duration) string {
	left = max(left, time.Millisecond)
	for _, u := range [...]struct {
		name string
		size time.Duration
	}{{"n", 1}, {"u", time.Microsecond}, {"m", time.Millisecond}, {"S", time.Second}, {"M", time.Minute}} {
		if n := left / u.size; n < 1e8 {
			return strconv.FormatInt(int64(n), 10) + u.name
		}
	}
	return strconv.FormatInt(int64(left/time.Hour), 10) + "H" // seven digits at most
}
