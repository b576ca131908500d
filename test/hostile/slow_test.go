package hostile_test

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// dribble sends one piece at a time until the other side closes or the test ends.
func dribble(t *testing.T, c net.Conn, piece string, every time.Duration) {
	t.Helper()
	stop, done := make(chan struct{}), make(chan struct{})
	t.Cleanup(func() { close(stop); <-done })
	go func() {
		defer close(done)
		tick := time.NewTicker(every)
		defer tick.Stop()
		for {
			select {
			case <-stop:
				return
			case <-tick.C:
				if _, err := io.WriteString(c, piece); err != nil {
					return
				}
			}
		}
	}()
}

// long is a limit that is as good as none here.
const long = "5m"

// TestSlowHeader (slowloris): a header that never ends is not waited for.
func TestSlowHeader(t *testing.T) {
	attack := func(t *testing.T, limit, start string) net.Conn {
		r := record(t)
		g := stand(t, r.addr, "limits: { read_header: "+limit+" }")
		c := dial(t, g.addr, start)
		dribble(t, c, "X-A: b\r\n", 20*time.Millisecond)
		return c
	}
	for _, start := range []string{"GET / HTTP/1.1\r\nHost: x\r\n", "G", "GET /first HTTP/1.1\r\nHost: x\r\n\r\nGET / HTTP/1.1\r\nHost: x\r\n"} {
		t.Run(fmt.Sprintf("%.8q", start), func(t *testing.T) { ends(t, attack(t, "300ms", start)) })
	}
	t.Run("undefended", func(t *testing.T) { stays(t, attack(t, long, "GET / HTTP/1.1\r\nHost: x\r\n"), time.Second) })
}

// TestSilence: a connection on which nothing is said is not kept.
func TestSilence(t *testing.T) {
	r := record(t)
	c := dial(t, stand(t, r.addr, "limits: { read_header: 300ms, idle: "+long+" }").addr, "")
	ends(t, c)
	used := stand(t, r.addr, "limits: { idle: 300ms }")
	c = dial(t, used.addr, "GET /a HTTP/1.1\r\nHost: x\r\n\r\n")
	ends(t, c)
	undefended := stand(t, r.addr, "limits: { idle: "+long+", read_header: "+long+" }")
	stays(t, dial(t, undefended.addr, ""), time.Second)
}

// TestSlowBody: a body that trickles is cut off when its time is up, and its slot
// is free. One that is slow and honest is not touched.
func TestSlowBody(t *testing.T) {
	attack := func(t *testing.T, limits, framing, piece string) (*front, net.Conn) {
		g := stand(t, record(t).addr, limits)
		c := dial(t, g.addr, "POST /slow HTTP/1.1\r\nHost: x\r\n"+framing+"\r\n\r\n")
		dribble(t, c, piece, 20*time.Millisecond)
		return g, c
	}
	for name, b := range map[string][2]string{ // order does not matter: they are tests of their own
		"length": {"Content-Length: 100000", "a"}, "chunked": {"Transfer-Encoding: chunked", "1\r\na\r\n"},
	} {
		t.Run(name, func(t *testing.T) {
			g, c := attack(t, "limits: { body_grace: 300ms, body_rate: 1MiB }", b[0], b[1])
			ends(t, c) // with an answer or, where more is coming all the time, without
			until(t, "the slot is free", func() bool { return g.Gate("app").States()[0].Used == 0 })
		})
		t.Run(name+", undefended", func(t *testing.T) {
			_, c := attack(t, "limits: { body_grace: "+long+" }", b[0], b[1])
			stays(t, c, time.Second)
		})
	}
	t.Run("as fast as it must be", func(t *testing.T) {
		_, c := attack(t, "limits: { body_grace: 300ms, body_rate: 1B }", "Content-Length: 50", "a")
		if res, _, err := answer(c); err != nil || res.StatusCode != 200 {
			t.Errorf("%v, %v", res, err)
		}
	})
}

// TestLargeBody: said to be too large, refused before it comes; found to be, cut
// off while it does.
func TestLargeBody(t *testing.T) {
	for name, b := range map[string]string{ // order does not matter: they are tests of their own
		"said":  "Content-Length: 2000\r\n\r\n",
		"found": "Transfer-Encoding: chunked\r\n\r\n7d0\r\n" + strings.Repeat("a", 2000) + "\r\n0\r\n\r\n",
	} {
		t.Run(name, func(t *testing.T) {
			r := record(t)
			g := stand(t, r.addr, "limits: { body: 1KiB }")
			res, body, err := answer(dial(t, g.addr, "POST /large HTTP/1.1\r\nHost: x\r\n"+b))
			if err != nil || res.StatusCode != 413 || res.Header.Get("Spillway-Reason") != "too_large" || !strings.Contains(body, `"status":413`) {
				t.Errorf("%v %s, %v", res, body, err)
			}
			for _, a := range r.about("/large") {
				if a.complete() {
					t.Errorf("%+v arrived", a)
				}
			}
		})
	}
	t.Run("undefended", func(t *testing.T) {
		g := stand(t, record(t).addr, "")
		res, _, err := answer(dial(t, g.addr, "POST /large HTTP/1.1\r\nHost: x\r\nContent-Length: 2000\r\n\r\n"+strings.Repeat("a", 2000)))
		if err != nil || res.StatusCode != 200 {
			t.Errorf("%v, %v", res, err)
		}
	})
}

// TestSlowRead: an answer that nobody takes holds its slot for no longer than
// write_stall.
func TestSlowRead(t *testing.T) {
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Write(make([]byte, 64<<20))
	}))
	defer service.Close()
	upstream := strings.TrimPrefix(service.URL, "http://")
	attack := func(t *testing.T, limit string) (*front, net.Conn) {
		g := stand(t, upstream, "limits: { write_stall: "+limit+" }")
		c := dial(t, g.addr, "GET / HTTP/1.1\r\nHost: x\r\n\r\n")
		until(t, "it is served", func() bool { return g.Gate("app").States()[0].Tally.Offered > 0 })
		return g, c
	}
	t.Run("defended", func(t *testing.T) {
		g, _ := attack(t, "300ms")
		until(t, "the slot is free", func() bool { return g.Gate("app").States()[0].Used == 0 })
	})
	t.Run("undefended", func(t *testing.T) {
		g, c := attack(t, long)
		for began := time.Now(); time.Since(began) < time.Second; {
			if g.Gate("app").States()[0].Tally.Running == 0 {
				t.Fatal("the slot was given back")
			}
		}
		c.Close()
	})
}
