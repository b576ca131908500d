package hostile_test

import (
	"slices"
	"strings"
	"testing"
)

// TestTargets: whatever a request asks for, the only server asked is the one that
// the configuration names. 192.0.2.1 and x.invalid are nobody's.
func TestTargets(t *testing.T) {
	for _, tt := range []struct {
		name, first, host string
		status            string
		target, asked     string // what arrives, and for which host; "": nothing
	}{
		{"another scheme and host", "GET http://192.0.2.1/a HTTP/1.1", "x", "200 OK", "/a", "192.0.2.1"},
		{"another host with a port and a login", "GET http://u:p@x.invalid:81/a HTTP/1.1", "x", "200 OK", "/a", "x.invalid:81"},
		{"https", "GET https://192.0.2.1/a HTTP/1.1", "x", "200 OK", "/a", "192.0.2.1"},
		{"a file", "GET file:///etc/passwd HTTP/1.1", "x", "200 OK", "/etc/passwd", "x"},
		{"two slashes", "GET //192.0.2.1/a HTTP/1.1", "x", "200 OK", "//192.0.2.1/a", "x"},
		{"three slashes", "GET ///192.0.2.1/a HTTP/1.1", "x", "200 OK", "///192.0.2.1/a", "x"},
		{"a login in the path", "GET /@192.0.2.1/a HTTP/1.1", "x", "200 OK", "/@192.0.2.1/a", "x"},
		{"a login without a slash", "GET @192.0.2.1/a HTTP/1.1", "x", "400 Bad Request", "", ""},
		{"a port without a slash", "GET :81/a HTTP/1.1", "x", "400 Bad Request", "", ""},
		{"a backslash", "GET \\\\192.0.2.1\\a HTTP/1.1", "x", "400 Bad Request", "", ""},
		{"a backslash after a slash", "GET /\\192.0.2.1/a HTTP/1.1", "x", "200 OK", "/%5C192.0.2.1/a", "x"},
		{"a fragment", "GET /a#@192.0.2.1 HTTP/1.1", "x", "200 OK", "/a%23@192.0.2.1", "x"},
		{"a URL in the query", "GET /a?url=http://192.0.2.1/ HTTP/1.1", "x", "200 OK", "/a?url=http://192.0.2.1/", "x"},
		{"dots that climb", "GET /a/../../b HTTP/1.1", "x", "200 OK", "/b", "x"},
		{"dots in disguise", "GET /a/%2e%2e/b HTTP/1.1", "x", "400 Bad Request", "", ""},
		{"an encoded slash between dots", "GET /a/..%2fb HTTP/1.1", "x", "400 Bad Request", "", ""},
		{"an encoded line end", "GET /a%0d%0aX-Tenant:%20b HTTP/1.1", "x", "200 OK", "/a%0d%0aX-Tenant:%20b", "x"},
		{"a tunnel", "CONNECT 192.0.2.1:22 HTTP/1.1", "192.0.2.1:22", "400 Bad Request", "", ""},
		{"a tunnel to a path", "CONNECT /a HTTP/1.1", "x", "400 Bad Request", "", ""},
		{"the server as a whole", "OPTIONS * HTTP/1.1", "x", "200 OK", "*", "x"},
		{"a star for something else", "GET * HTTP/1.1", "x", "400 Bad Request", "", ""},
		{"a host that is a path", "GET /a HTTP/1.1", "x/../b", "400 Bad Request", "", ""},
		{"a host that is a login", "GET /a HTTP/1.1", "u@192.0.2.1", "400 Bad Request", "", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := record(t)
			g := stand(t, r.addr, "")
			c := dial(t, g.addr, tt.first+"\r\nHost: "+tt.host+"\r\nConnection: close\r\n\r\n")
			if got := status(ends(t, c)); !strings.HasPrefix(got, tt.status) {
				t.Errorf("answered %q, want %q", got, tt.status)
			}
			came := r.about("")
			switch {
			case tt.target == "" && len(came) > 0:
				t.Errorf("%+v arrived", came)
			case tt.target != "" && (len(came) != 1 || came[0].target != tt.target || !slices.Equal(came[0].values("Host"), []string{tt.asked})):
				t.Errorf("%+v arrived, want %s for %s", came, tt.target, tt.asked)
			}
		})
	}
}

// TestHopByHop: what is said of this hop ends here, and nobody can have removed
// what we and our configuration go by.
func TestHopByHop(t *testing.T) {
	for _, tt := range []struct {
		name, send string
		want, gone []string // lines that arrive, and names that must not
	}{
		{"fields of this hop", "Connection: keep-alive, X-Mine\r\nKeep-Alive: timeout=5\r\nX-Mine: a\r\nProxy-Authorization: b\r\nProxy-Connection: keep-alive\r\nX-Other: c\r\n",
			[]string{"X-Other: c"}, []string{"Keep-Alive", "X-Mine", "Proxy-Authorization", "Proxy-Connection", "Connection"}},
		{"a field that the configuration decides by", "Connection: X-Tenant\r\nX-Tenant: acme\r\n", []string{"X-Tenant: acme"}, nil},
		{"fields that we add", "Connection: X-Forwarded-For, X-Forwarded-Host, X-Forwarded-Proto, X-Envoy-Expected-Rq-Timeout-Ms\r\n",
			[]string{"X-Forwarded-For: 127.0.0.1", "X-Forwarded-Host: x", "X-Forwarded-Proto: http"}, nil},
		{"who the caller is", "Connection: close, authorization, cookie\r\nAuthorization: Bearer t\r\nCookie: sid=1\r\n", []string{"Authorization: Bearer t", "Cookie: sid=1"}, nil},
		{"what callers say of themselves", "X-Forwarded-For: 192.0.2.1\r\nForwarded: for=192.0.2.1\r\nX-Forwarded-Host: evil\r\nX-Forwarded-Proto: https\r\n",
			[]string{"X-Forwarded-For: 127.0.0.1", "X-Forwarded-Host: x", "X-Forwarded-Proto: http"}, []string{"Forwarded"}},
		{"the same with underscores", "X_Forwarded_For: 192.0.2.1\r\nX_Tenant: acme\r\nX-For_warded: 1\r\n", []string{"X-Forwarded-For: 127.0.0.1"}, []string{"X_Forwarded_For", "X_Tenant", "X-For_warded"}},
		{"trailers are wanted", "TE: trailers, deflate;q=0.5\r\nConnection: TE\r\n", []string{"Te: trailers"}, nil},
		{"other codings are wanted", "TE: gzip\r\nConnection: TE\r\n", nil, []string{"TE"}},
		{"a way round us (h2c smuggling)", "Connection: Upgrade\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\n", nil, []string{"Upgrade", "HTTP2-Settings"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := record(t)
			g := stand(t, r.addr, "")
			c := dial(t, g.addr, "GET /hop HTTP/1.1\r\nHost: x\r\n"+tt.send+"\r\n")
			if _, _, err := answer(c); err != nil {
				t.Fatal(err)
			}
			came := r.about("/hop")
			if len(came) != 1 {
				t.Fatalf("%+v arrived", came)
			}
			for _, line := range tt.want {
				if !slices.ContainsFunc(came[0].header, func(h string) bool { return strings.EqualFold(h, line) }) {
					t.Errorf("%q did not arrive: %q", line, came[0].header)
				}
			}
			for _, name := range tt.gone {
				if v := came[0].values(name); len(v) > 0 {
					t.Errorf("%s: %q arrived", name, v)
				}
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
