package hostile_test

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
)

// TestHeaderFloods: a header that is too long or has too many fields is refused,
// and a cookie is a field like any other. What is refused is read to its end where
// the limits are lifted.
func TestHeaderFloods(t *testing.T) {
	const most, lifted = "431 Request Header Fields Too Large", "limits: { header: 1MiB, header_count: 10000 }"
	for _, tt := range []struct {
		name, header       string
		status, undefended string
	}{
		{"many fields", strings.Repeat("X-A: b\r\n", 200), most, "200 OK"},
		{"many names", numbered(200), most, "200 OK"},
		{"a huge cookie", "Cookie: a=" + strings.Repeat("b", 100<<10) + "\r\n", most, "200 OK"},
		{"many cookies", strings.Repeat("Cookie: a="+strings.Repeat("b", 4000)+"\r\n", 30), most, "200 OK"},
		{"a header without an end", strings.Repeat("X-A: "+strings.Repeat("b", 4000)+"\r\n", 100), most, "200 OK"},
		{"a name without an end", strings.Repeat("b", 200<<10), most, "400 Bad Request"}, // no field at all, when all of it is read
		{"as many as browsers send", numbered(40) + "Cookie: a=" + strings.Repeat("b", 8000) + "\r\n", "200 OK", "200 OK"},
	} {
		for limits, want := range map[string]string{"": tt.status, lifted: tt.undefended} { // order does not matter: they are tests of their own
			t.Run(strings.TrimSuffix(tt.name+", "+limits, ", "), func(t *testing.T) {
				r := record(t)
				g := stand(t, r.addr, limits)
				c := dial(t, g.addr, "GET /flood HTTP/1.1\r\nHost: x\r\n")
				go io.WriteString(c, tt.header+"\r\n") // it may be refused halfway
				res, _, err := answer(c)
				if err != nil || !strings.HasPrefix(res.Status, want) {
					t.Fatalf("answered %v, %v; want %s", res, err, want)
				}
				if n := len(r.about("/flood")); (n == 1) != (res.StatusCode == 200) {
					t.Errorf("%d arrived", n)
				}
				g.behaves("/well")
			})
		}
	}
}

func numbered(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "X-A-%d: b\r\n", i)
	}
	return b.String()
}

// TestConnectionFlood: one address takes no more than its part, and a well-behaved
// caller beside it is served.
func TestConnectionFlood(t *testing.T) {
	attack := func(t *testing.T, limits string) (g *front, kept int) {
		g = stand(t, record(t).addr, limits)
		var open []net.Conn
		for range 40 {
			c := from(t, g.addr, "127.0.0.2")
			open = append(open, c)
		}
		for _, c := range open {
			io.WriteString(c, "GET /a HTTP/1.1\r\nHost: x\r\n\r\n")
			if res, _, err := answer(c); err == nil && res.StatusCode == 200 {
				kept++
			}
		}
		return g, kept
	}
	t.Run("defended", func(t *testing.T) {
		g, kept := attack(t, "limits: { connections: 40, connections_per_address: 10 }")
		if kept != 10 {
			t.Errorf("%d connections of one address are open, want 10", kept)
		}
		g.behaves("/well")
	})
	t.Run("by default, half", func(t *testing.T) {
		g, kept := attack(t, "limits: { connections: 40 }")
		if kept != 20 {
			t.Errorf("%d connections of one address are open, want 20", kept)
		}
		g.behaves("/well")
	})
	t.Run("undefended", func(t *testing.T) {
		g, kept := attack(t, "limits: { connections: 40, connections_per_address: 40 }")
		if kept != 40 {
			t.Errorf("%d connections are open, want 40", kept)
		}
		if _, err := http.Get("http://" + g.addr + "/well"); err == nil {
			t.Error("a well-behaved caller was served: the flood was none")
		}
	})
}

// from connects from an address of this machine.
func from(t *testing.T, to, address string) net.Conn {
	t.Helper()
	d := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(address)}}
	c, err := d.Dial("tcp", to)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}
