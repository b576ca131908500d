package call

import (
	"net/http"
	"testing"
)

func valuesOf(h http.Header) func(string) []string {
	return func(name string) []string { return h[name] }
}

func TestWhichTryARequestIs(t *testing.T) {
	for _, c := range []struct {
		name      string
		h         http.Header
		retry     bool
		malformed int
	}{
		{name: "says nothing", h: http.Header{}},
		{name: "Envoy's first", h: http.Header{"X-Envoy-Attempt-Count": {"1"}}},
		{name: "Envoy's second", h: http.Header{"X-Envoy-Attempt-Count": {"2"}}, retry: true},
		{name: "gRPC's second", h: http.Header{"Grpc-Previous-Rpc-Attempts": {"1"}}, retry: true},
		{name: "gRPC's first", h: http.Header{"Grpc-Previous-Rpc-Attempts": {"0"}}},
		{name: "an SDK's first", h: http.Header{"X-Stainless-Retry-Count": {"0"}}},
		{name: "an SDK's third", h: http.Header{"X-Stainless-Retry-Count": {"2"}}, retry: true},
		{name: "one header cannot take back what another gave up", retry: true,
			h: http.Header{"X-Stainless-Retry-Count": {"2"}, "X-Envoy-Attempt-Count": {"0"}}},
		{name: "nor can a second value", h: http.Header{"X-Envoy-Attempt-Count": {"2", "1"}}, retry: true},
		{name: "less than the first is the first", h: http.Header{"X-Envoy-Attempt-Count": {"0"}}},
		{name: "negative", h: http.Header{"X-Envoy-Attempt-Count": {"-5"}}, malformed: 1},
		{name: "huge", h: http.Header{"X-Envoy-Attempt-Count": {"99999999999999999999"}}, malformed: 1},
		{name: "empty, blank, hexadecimal", h: http.Header{"X-Envoy-Attempt-Count": {"", " 2", "0x2"}}, malformed: 3},
	} {
		if retry, malformed := ReadRetried(valuesOf(c.h)); retry != c.retry || malformed != c.malformed {
			t.Errorf("%s: retry %v, %d malformed; want %v, %d", c.name, retry, malformed, c.retry, c.malformed)
		}
	}
}

// Adding headers never makes a retry a first try again: the claim can lower
// and nothing else.
func FuzzAttemptHeadersOnlyLower(f *testing.F) {
	f.Add("1", "0")
	f.Add("-1", "x")
	f.Add("2147483648", "")
	f.Fuzz(func(t *testing.T, a, b string) {
		said := http.Header{"X-Stainless-Retry-Count": {"1"}, "X-Envoy-Attempt-Count": {a, b}, "Grpc-Previous-Rpc-Attempts": {b}}
		if retry, malformed := ReadRetried(valuesOf(said)); !retry || malformed < 0 || malformed > 3 {
			t.Fatalf("%q %q: retry %v, %d malformed", a, b, retry, malformed)
		}
	})
}
