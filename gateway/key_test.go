package gateway

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/spillway-dev/spillway/config"
)

func TestExtract(t *testing.T) {
	r := httptest.NewRequest("GET", "/acme/orders/7?user=a%20b&user=c&bad;=1&x=%zz", nil)
	r.RemoteAddr = "[2001:db8::1]:443"
	r.Header = http.Header{
		"X-Tenant": {"first", "second"}, "Cookie": {"sid=abc; other=1"},
		"X-Forwarded-For": {"6.6.6.6"}, "X-Long": {strings.Repeat("x", 1000)}, "X-Longer": {strings.Repeat("x", 1001)},
	}
	tests := []struct {
		key  config.Key
		want string
	}{
		{config.Key{Kind: config.FromHeader, Name: "X-Tenant"}, "first"},
		{config.Key{Kind: config.FromHeader, Name: "X-None"}, ""},
		{config.Key{Kind: config.FromHeader, Name: "Host"}, "example.com"},
		{config.Key{Kind: config.FromCookie, Name: "sid"}, "abc"},
		{config.Key{Kind: config.FromCookie, Name: "none"}, ""},
		{config.Key{Kind: config.FromQuery, Name: "user"}, "a b"},
		{config.Key{Kind: config.FromQuery, Name: "x"}, ""},
		{config.Key{Kind: config.FromQuery, Name: "bad;"}, ""},
		{config.Key{Kind: config.FromPath, Segment: 1}, "acme"},
		{config.Key{Kind: config.FromPath, Segment: 3}, "7"},
		{config.Key{Kind: config.FromPath, Segment: 4}, ""},
		{config.Key{Kind: config.FromClient}, "2001:db8::1"},
		{config.Key{}, ""},
	}
	for _, tt := range tests {
		if got := extract(tt.key, r); got != tt.want {
			t.Errorf("%v: %q, want %q", tt.key, got, tt.want)
		}
	}
	a := extract(config.Key{Kind: config.FromHeader, Name: "X-Long"}, r)
	b := extract(config.Key{Kind: config.FromHeader, Name: "X-Longer"}, r)
	if len(a) != keyMax || len(b) != keyMax || a == b {
		t.Errorf("two long keys became %q and %q; want two of %d bytes", a, b, keyMax)
	}
}

// K7: whatever stands for a level, there is one; nothing panics.
func TestLevel(t *testing.T) {
	levels := config.Words{"user", "prefetch", "batch"}
	for value, want := range map[string]int{
		"user": 0, "prefetch": 1, "batch": 2, "": 2, "-1": 2, "100000": 2, "1e9": 2, "USER": 2, "ü": 2, "0": 2, "user, user": 2,
	} {
		if got := level(levels, value); got != want {
			t.Errorf("%q: level %d, want %d", value, got, want)
		}
	}
	if got := level(nil, "x"); got != 0 {
		t.Errorf("without levels: %d", got)
	}
}

func TestCost(t *testing.T) {
	for value, want := range map[string]int64{"7": 7, "0": 0, "-7": 0, "": 0, "1.5": 0, "99999999999999999999": 0, "x": 0} {
		if got := cost(value); got != want {
			t.Errorf("%q: %d, want %d", value, got, want)
		}
	}
}

func FuzzKeys(f *testing.F) {
	f.Add("X-Tenant", "acme", "/a/b/c?user=x", 2)
	f.Add("sid", "sid=1; sid=2", "/%2e%2e/..%2f?user=%", 64)
	f.Add("", strings.Repeat("x", 300), "//?&&==;", 1)
	f.Add("X-Importance", "-1", "/", 1)
	f.Add("X-Importance", "100000", "/", 1)
	f.Add("X-Importance", "1e309\xff", "/", 1)
	f.Fuzz(func(t *testing.T, name, value, target string, n int) {
		u, err := url.ParseRequestURI(target)
		if err != nil || n < 1 || n > 64 {
			return
		}
		r := &http.Request{Method: "GET", URL: u, RemoteAddr: value, Header: http.Header{
			http.CanonicalHeaderKey(name): {value}, "Cookie": {value},
		}}
		for _, k := range []config.Key{
			{Kind: config.FromHeader, Name: http.CanonicalHeaderKey(name)}, {Kind: config.FromCookie, Name: name},
			{Kind: config.FromQuery, Name: name}, {Kind: config.FromPath, Segment: n}, {Kind: config.FromClient},
		} {
			if got := extract(k, r); len(got) > keyMax {
				t.Errorf("%v: %d bytes", k, len(got))
			}
		}
		levels := config.Words{"user", "prefetch", "batch"}
		if got := level(levels, value); got < 0 || got >= len(levels) || got != 2 && value != levels[got] {
			t.Errorf("importance %q: level %d", value, got)
		}
		if got := cost(value); got < 0 {
			t.Errorf("cost %q: %d", value, got)
		}
		if out, ok := resolve(r); ok && dotted(out.URL.Path) {
			t.Errorf("%q was let through as %q", target, out.URL.Path)
		}
	})
}
