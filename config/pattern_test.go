package config

import (
	"testing"

	"pgregory.net/rapid"
)

func TestPatternsMatch(t *testing.T) {
	headers := map[string]string{"X-Beta": "two", "X-Kind": "img/png"}
	header := func(name string) string { return headers[name] }
	for _, c := range []struct {
		say                string
		m                  Match
		method, host, path string
		want               bool
	}{
		{"nothing written matches everything", Match{}, "GET", "h", "/x", true},
		{"/* matches everything, OPTIONS * too", Match{Path: Words{"/*"}}, "OPTIONS", "h", "*", true},
		{"a path is exact", Match{Path: Words{"/x"}}, "GET", "h", "/x/", false},
		{"a final * is any rest, and none", Match{Path: Words{"/x*"}}, "GET", "h", "/x", true},
		{"what is before * must be there", Match{Path: Words{"/x/*"}}, "GET", "h", "/x", false},
		{"a path keeps its case", Match{Path: Words{"/x"}}, "GET", "h", "/X", false},
		{"one of several paths is enough", Match{Path: Words{"/a", "/x/*"}}, "GET", "h", "/x/y", true},
		{"one of several methods", Match{Method: Words{"GET", "HEAD"}}, "HEAD", "h", "/", true},
		{"no other method", Match{Method: Words{"GET", "HEAD"}}, "POST", "h", "/", false},
		{"a host's port and case do not matter", Match{Host: Words{"Shop.example.com"}}, "GET", "shop.EXAMPLE.com:8443", "/", true},
		{"nor does its final dot", Match{Host: Words{"shop.example.com"}}, "GET", "shop.example.com.", "/", true},
		{"*. is every name below", Match{Host: Words{"*.example.com"}}, "GET", "a.b.example.com", "/", true},
		{"*. is not the name itself", Match{Host: Words{"*.example.com"}}, "GET", "example.com", "/", false},
		{"nor one that only ends alike", Match{Host: Words{"*.example.com"}}, "GET", "badexample.com", "/", false},
		{"an IPv6 host", Match{Host: Words{"::1"}}, "GET", "[::1]:80", "/", true},
		{"a header's name has no case", Match{Headers: map[string]string{"x-beta": "two"}}, "GET", "h", "/", true},
		{"a header's value is exact", Match{Headers: map[string]string{"X-Beta": "tw"}}, "GET", "h", "/", false},
		{"or begins as said", Match{Headers: map[string]string{"X-Kind": "img/*"}}, "GET", "h", "/", true},
		{"* is any value", Match{Headers: map[string]string{"X-Beta": "*"}}, "GET", "h", "/", true},
		{"but a value there must be", Match{Headers: map[string]string{"X-None": "*"}}, "GET", "h", "/", false},
		{"all headers must fit", Match{Headers: map[string]string{"X-Beta": "two", "X-None": "*"}}, "GET", "h", "/", false},
	} {
		if got := c.m.Pattern().Matches(c.method, c.host, c.path, header); got != c.want {
			t.Errorf("%s: got %v", c.say, got)
		}
	}
}

func TestAskingAPatternAllocatesNothing(t *testing.T) {
	p := Match{Path: Words{"/x/*"}, Method: Words{"GET"}, Host: Words{"*.example.com"}, Headers: map[string]string{"X-Beta": "*"}}.Pattern()
	header := func(string) string { return "1" }
	if n := testing.AllocsPerRun(100, func() {
		if !p.Matches("GET", "a.example.com:80", "/x/y", header) {
			t.Fatal("does not match")
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// If a covers b, no request fits b and not a: for patterns and requests drawn from
// a small alphabet, where they meet often.
func TestCoversMeansEveryRequest(t *testing.T) {
	some := func(t *rapid.T, name string, from ...string) Words {
		return rapid.SliceOfN(rapid.SampledFrom(from), 0, 2).Draw(t, name)
	}
	draw := func(t *rapid.T) Match {
		m := Match{
			Path:   some(t, "path", "/*", "/a", "/a*", "/a/*", "/a/b", "/b/*"),
			Method: some(t, "method", "GET", "PUT"),
			Host:   some(t, "host", "x.io", "*.x.io", "a.x.io", "*.a.x.io"),
		}
		for _, name := range some(t, "headers", "A", "B") {
			if m.Headers == nil {
				m.Headers = map[string]string{}
			}
			m.Headers[name] = rapid.SampledFrom([]string{"*", "u", "u*", "uv"}).Draw(t, "value")
		}
		return m
	}
	covered := 0
	rapid.Check(t, func(t *rapid.T) {
		a, b := draw(t).Pattern(), draw(t).Pattern()
		if !a.Covers(b) {
			return
		}
		covered++
		for range 20 {
			method := rapid.SampledFrom([]string{"GET", "PUT"}).Draw(t, "m")
			host := rapid.SampledFrom([]string{"x.io", "a.x.io", "A.X.io:80", "b.a.x.io"}).Draw(t, "h")
			path := rapid.SampledFrom([]string{"/", "/a", "/a/", "/a/b", "/b/c", "*"}).Draw(t, "p")
			values := map[string]string{"A": rapid.SampledFrom([]string{"", "u", "uv"}).Draw(t, "A"), "B": rapid.SampledFrom([]string{"", "u", "uv"}).Draw(t, "B")}
			header := func(n string) string { return values[n] }
			if b.Matches(method, host, path, header) && !a.Matches(method, host, path, header) {
				t.Fatalf("%s %s%s %v fits %+v and not %+v", method, host, path, values, b, a)
			}
		}
	})
	if covered == 0 {
		t.Error("no pair was ever covered: the test tests nothing")
	}
}
