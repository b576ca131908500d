package jobs

import (
	"context"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestWhereTheEndOfAJobMayBeTold(t *testing.T) {
	h := Hooks{Hosts: []string{"hooks.example.com", "other.example.com:8443", "http://127.0.0.1:8081", "[::1]:9"}}
	for hook, may := range map[string]bool{
		"https://hooks.example.com/a?b=c":              true,
		"https://HOOKS.example.com":                    true,
		"https://hooks.example.com:443/":               true,
		"https://other.example.com:8443/x":             true,
		"http://127.0.0.1:8081/x":                      true,
		"https://[::1]:9/":                             true,
		"http://hooks.example.com/":                    false,
		"https://hooks.example.com:8443/":              false,
		"https://other.example.com/":                   false,
		"https://127.0.0.1:8081/":                      false,
		"http://127.0.0.1/":                            false,
		"https://hooks.example.com.evil.test/":         false,
		"https://evil.test/hooks.example.com":          false,
		"https://hooks.example.com@evil.test/":         false,
		"https://user:pass@hooks.example.com/":         false,
		"https://evil.test#hooks.example.com":          false,
		"https://169.254.169.254/latest/meta-data":     false,
		"ftp://hooks.example.com/":                     false,
		"//hooks.example.com/":                         false,
		"https:hooks.example.com":                      false,
		"https://hooks.example.com\r\nHost: evil.test": false,
		"": false,
	} {
		if err := h.Allows(hook); (err == nil) != may {
			t.Errorf("%q: %v, want allowed %v", hook, err, may)
		}
	}
}

// What passes the check makes a request that is the one that was meant, and no other.
func FuzzHeads(f *testing.F) {
	f.Add("POST", "/mail?a=b", "example.com", "X-A", "b")
	f.Add("GET", "//evil.test/", "", "Host", "x")
	f.Add("CONNECT", "*", "a b", "Transfer-Encoding", "chunked")
	f.Add("GET", "/a\r\nX: y", "h", "A\n", "\x00")
	f.Fuzz(func(t *testing.T, method, target, host, name, value string) {
		h := Head{Method: method, Target: target, Host: host, Header: http.Header{name: {value}}}
		if h.Check() != nil {
			return
		}
		r, err := h.Request(context.Background(), []byte("body"))
		if err != nil {
			return
		}
		if r.URL.Host != "" || r.URL.Scheme != "" || !strings.HasPrefix(r.URL.Path, "/") || strings.ContainsAny(r.Method+r.Host+value, "\r\n\x00") {
			t.Errorf("%+v became %v %v at %q", h, r.Method, r.URL, r.Host)
		}
		m, err := HeadOf(r).Message([]byte("body"))
		if err != nil {
			t.Fatal(err)
		}
		again, err := ReadHead(m)
		if err != nil || again.Method != h.Method || again.Host != h.Host {
			t.Errorf("%+v is read as %+v, %v", h, again, err)
		}
		if b, err := io.ReadAll(r.Body); err != nil || string(b) != "body" {
			t.Errorf("%q, %v", b, err)
		}
	})
}

func TestIDsSortByTime(t *testing.T) {
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	var ids []string
	for range 500 {
		ids = append(ids, NewID(at))
		at = at.Add(time.Millisecond)
	}
	if !slices.IsSorted(ids) || len(slices.Compact(slices.Clone(ids))) != len(ids) {
		t.Error("ids are out of order, or twice the same")
	}
}

func TestWhatIsKeptOfHeaders(t *testing.T) {
	got := kept(http.Header{"Connection": {"close, X-Hop"}, "X-Hop": {"1"}, "Transfer-Encoding": {"chunked"}, "Content-Length": {"3"}, "Authorization": {"Bearer x"}, "X-A": {"b"}})
	if len(got) != 2 || got["X-A"] == nil || got["Authorization"] == nil {
		t.Errorf("%v", got)
	}
}
