package hostile_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// A hop is what a caller says of this hop, or would like us to take for that.
type hop struct {
	name, send string
	want, gone []string // lines that arrive as the only ones of their names, and names that must not
	// obeys says that a proxy falls for it which does as Connection says; else it is
	// one that passes on what it read.
	obeys bool
}

var hops = []hop{
	{"fields of this hop", "Connection: keep-alive, X-Mine\r\nKeep-Alive: timeout=5\r\nX-Mine: a\r\nProxy-Authorization: b\r\nProxy-Connection: keep-alive\r\nX-Other: c\r\n",
		[]string{"X-Other: c"}, []string{"Keep-Alive", "X-Mine", "Proxy-Authorization", "Proxy-Connection", "Connection"}, false},
	{"a field that the configuration decides by", "Connection: X-Tenant\r\nX-Tenant: acme\r\n", []string{"X-Tenant: acme"}, nil, true},
	{"fields that we add", "Connection: X-Forwarded-For, X-Forwarded-Host, X-Forwarded-Proto, X-Envoy-Expected-Rq-Timeout-Ms\r\n",
		[]string{"X-Forwarded-For: 127.0.0.1", "X-Forwarded-Host: x", "X-Forwarded-Proto: http"}, nil, true},
	{"who the caller is", "Connection: close, authorization, cookie\r\nAuthorization: Bearer t\r\nCookie: sid=1\r\n", []string{"Authorization: Bearer t", "Cookie: sid=1"}, nil, true},
	{"what callers say of themselves", "X-Forwarded-For: 192.0.2.1\r\nForwarded: for=192.0.2.1\r\nX-Forwarded-Host: evil\r\nX-Forwarded-Proto: https\r\n",
		[]string{"X-Forwarded-For: 127.0.0.1", "X-Forwarded-Host: x", "X-Forwarded-Proto: http"}, []string{"Forwarded"}, false},
	{"the same with underscores", "X_Forwarded_For: 192.0.2.1\r\nX_Tenant: acme\r\nX-For_warded: 1\r\n", []string{"X-Forwarded-For: 127.0.0.1"}, []string{"X_Forwarded_For", "X_Tenant", "X-For_warded"}, true},
	{"trailers are wanted", "TE: trailers, deflate;q=0.5\r\nConnection: TE\r\n", []string{"Te: trailers"}, nil, false},
	{"other codings are wanted", "TE: gzip\r\nConnection: TE\r\n", nil, []string{"TE"}, false},
	{"a way round us (h2c smuggling)", "Connection: Upgrade\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\n", nil, []string{"Upgrade", "HTTP2-Settings"}, false},
}

// harm says what is wrong with what arrived, "" if nothing is.
func (h hop) harm(a arrival) string {
	for _, line := range h.want {
		name, value, _ := strings.Cut(line, ": ")
		if got := a.values(name); !slices.Equal(got, []string{value}) {
			return fmt.Sprintf("%s: %q arrived, want %q", name, got, value)
		}
	}
	for _, name := range h.gone {
		if got := a.values(name); len(got) > 0 {
			return fmt.Sprintf("%s: %q arrived", name, got)
		}
	}
	return ""
}

// TestHopByHop: what is said of this hop ends here, and nobody can have removed
// what we and our configuration go by.
func TestHopByHop(t *testing.T) {
	for _, h := range hops {
		t.Run(h.name, func(t *testing.T) {
			r := record(t)
			c := dial(t, stand(t, r.addr, "").addr, "GET /hop HTTP/1.1\r\nHost: x\r\n"+h.send+"\r\n")
			if _, _, err := answer(c); err != nil {
				t.Fatal(err)
			}
			came := r.about("/hop")
			if len(came) != 1 {
				t.Fatalf("%+v arrived", came)
			}
			if say := h.harm(came[0]); say != "" {
				t.Errorf("%s: %q", say, came[0].header)
			}
		})
	}
}

// obedient does what Connection says, by the letter, after it has added its own:
// proxies whose fields a caller could name away have been like that.
func obedient(head string) string {
	lines := strings.Split(strings.TrimSuffix(head, "\r\n\r\n"), "\r\n")
	lines = append(lines, "X-Forwarded-For: 127.0.0.1", "X-Forwarded-Host: x", "X-Forwarded-Proto: http")
	options := []string{"connection"}
	for _, o := range (arrival{header: lines[1:]}).values("Connection") {
		for name := range strings.SplitSeq(o, ",") {
			options = append(options, strings.ToLower(strings.TrimSpace(name)))
		}
	}
	return strings.Join(slices.DeleteFunc(lines, func(l string) bool {
		name, _, field := strings.Cut(l, ":")
		return field && slices.Contains(options, strings.ToLower(name))
	}), "\r\n") + "\r\n\r\n"
}

// TestHopByHopBite: each does harm behind a proxy that passes on what it read, or
// behind one that does as it is told.
func TestHopByHopBite(t *testing.T) {
	for _, h := range hops {
		t.Run(h.name, func(t *testing.T) {
			edit := asItIs
			if h.obeys {
				edit = obedient
			}
			r := record(t)
			if _, _, err := answer(dial(t, naive(t, r.addr, edit), "GET /hop HTTP/1.1\r\nHost: x\r\n"+h.send+"\r\n")); err != nil {
				t.Fatal(err)
			}
			if h.harm(r.about("/hop")[0]) == "" {
				t.Error("a naive proxy withstands it: what does it test?")
			}
		})
	}
}

// Without the defence: underscores pass where the configuration says so.
func TestUnderscoresPassWhereToldTo(t *testing.T) {
	r := record(t)
	g := stand(t, r.addr, "limits: { underscores: pass }")
	if _, _, err := answer(dial(t, g.addr, "GET /hop HTTP/1.1\r\nHost: x\r\nX_Tenant: acme\r\n\r\n")); err != nil {
		t.Fatal(err)
	}
	if v := r.about("/hop")[0].values("X_Tenant"); !slices.Equal(v, []string{"acme"}) {
		t.Errorf("X_Tenant: %q", v)
	}
}
