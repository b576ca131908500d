package gateway_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// upgrader answers a request to upgrade with an echo of what comes, each piece as it comes,
// until the other side has nothing more to say.
func upgrader(w http.ResponseWriter) {
	c, brw, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return
	}
	defer c.Close()
	io.WriteString(c, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: raw\r\n\r\n")
	io.Copy(c, brw)
}

// tunnel is a caller's end of an upgraded connection.
type tunnel struct {
	net.Conn
	r *bufio.Reader
}

// upgrade asks for one, and returns the answer.
func (h *harness) upgrade() (tunnel, *http.Response) {
	h.Helper()
	c, err := new(net.Dialer).DialContext(context.Background(), "tcp", h.addr)
	if err != nil {
		h.Fatal(err)
	}
	h.Cleanup(func() { c.Close() })
	c.SetDeadline(time.Now().Add(3 * soon)) // only to end a test that fails
	io.WriteString(c, "GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: raw\r\n\r\n")
	to := tunnel{c, bufio.NewReader(c)}
	for {
		res, err := http.ReadResponse(to.r, nil)
		if err != nil {
			h.Fatal(err)
		}
		if res.StatusCode == 101 || res.StatusCode >= 200 {
			return to, res
		}
	}
}

// echoes fails the test unless what is sent comes back before more is sent.
func (c tunnel) echoes(t *testing.T, text string) {
	t.Helper()
	io.WriteString(c, text)
	b := make([]byte, len(text))
	if _, err := io.ReadFull(c.r, b); err != nil || string(b) != text {
		t.Fatalf("%d bytes of %d came back: %v", len(strings.TrimRight(string(b), "\x00")), len(text), err)
	}
}

// A request to upgrade is a call like any until it is answered: what fails before is tried
// again, as it would be of a GET. From the 101 on it is a connection: nothing of it is kept
// back, no limit of its call ends it, its length is nobody's slowness and its end nobody's
// failure. It holds its slot and its copy until it ends.
func TestAnUpgradeUnderACallPolicy(t *testing.T) {
	for name, first := range map[string]func(http.ResponseWriter){
		"at once":              nil,
		"refused at first":     func(w http.ResponseWriter) { w.WriteHeader(503) },
		"dropped at first":     func(http.ResponseWriter) { panic(http.ErrAbortHandler) },
		"broke off at the 1xx": func(w http.ResponseWriter) { w.WriteHeader(103); panic(http.ErrAbortHandler) },
	} {
		t.Run(name, func(t *testing.T) {
			var calls atomic.Int64
			h := start(t, "  all: { match: { path: \"/*\" }, slots: 2, deadline: 4s, call: { timeout: 1s, retries: 1, retry_budget: off, backoff: off, breaker: { slow: 1%, slow_after: 500ms, min_calls: 1, consecutive: 2 } } }\n",
				func(w http.ResponseWriter, r *http.Request) {
					if calls.Add(1) == 1 && first != nil {
						first(w)
						return
					}
					upgrader(w)
				})
			c, res := h.upgrade()
			want := int64(1)
			if first != nil {
				want = 2
			}
			if res.StatusCode != 101 || calls.Load() != want || res.Header.Get("Spillway-Rung") != "primary" {
				t.Fatalf("%d after %d calls, %v", res.StatusCode, calls.Load(), res.Header)
			}
			c.echoes(t, "a")
			<-time.After(1100 * time.Millisecond) // past the try's limit and slow_after: that is what this is about
			for _, n := range []int{1, 1 << 10, 1 << 20} {
				c.echoes(t, strings.Repeat("x", n))
			}
			if s := h.state("all"); s.Used != 1 {
				t.Errorf("an open connection holds %d slots", s.Used)
			}
			c.Close()
			until(t, "the slot is free", func() bool { return h.state("all").Used == 0 })
			until(t, "the copy is given back", func() bool {
				for _, copy := range h.copies() {
					if copy.InFlight != 0 {
						return false
					}
				}
				return true
			})
			again, res := h.upgrade() // the breaker is closed
			if res.StatusCode != 101 {
				t.Errorf("then: %d, %s", res.StatusCode, res.Header.Get("Spillway-Reason"))
			}
			again.Close()
		})
	}
}

// What the breaker counts of upgrades is how they are answered; how long they live and how
// they end it does not.
func TestABreakerCountsHowUpgradesAreAnswered(t *testing.T) {
	var broken atomic.Bool
	var calls atomic.Int64
	h := start(t, "  all: { match: { path: \"/*\" }, slots: 4, call: { breaker: { consecutive: 2, open_for: 1m, open_max: 1m } } }\n",
		func(w http.ResponseWriter, r *http.Request) {
			calls.Add(1)
			if broken.Load() {
				w.WriteHeader(500)
				return
			}
			c, _, err := http.NewResponseController(w).Hijack()
			if err != nil {
				return
			}
			io.WriteString(c, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: raw\r\n\r\nhello")
			c.(*net.TCPConn).SetLinger(0) // it breaks, as connections do
			c.Close()
		})
	for range 5 {
		if c, res := h.upgrade(); res.StatusCode != 101 {
			t.Fatalf("connections that break after the 101 are counted: %d %s", res.StatusCode, res.Header.Get("Spillway-Reason"))
		} else {
			io.Copy(io.Discard, c.r)
		}
	}
	broken.Store(true)
	for i, want := range []string{"failed", "failed", "breaker_open"} {
		if _, res := h.upgrade(); res.Header.Get("Spillway-Reason") != want {
			t.Errorf("answer %d: %d %s, want %s", i+1, res.StatusCode, res.Header.Get("Spillway-Reason"), want)
		}
	}
	if n := calls.Load(); n != 7 {
		t.Errorf("%d calls, want 7", n)
	}
}

// A hedge beside an upgrade that hangs wins it. The loser's connection is cut, and the
// winner's is whole.
func TestAHedgedUpgradeIsOneConnection(t *testing.T) {
	cut := make(chan struct{})
	var calls atomic.Int64
	h := start(t, "  all: { match: { path: \"/*\" }, slots: 2, call: { hedge: { after: 20ms, budget: off, slow_share: 100% } } }\n",
		func(w http.ResponseWriter, r *http.Request) {
			if calls.Add(1) == 1 {
				<-r.Context().Done()
				close(cut)
				return
			}
			upgrader(w)
		})
	c, res := h.upgrade()
	if res.StatusCode != 101 {
		t.Fatal(res.Status)
	}
	<-cut
	for n := range 50 {
		c.echoes(t, fmt.Sprint("message ", n))
	}
	c.Close()
	until(t, "the slot is free", func() bool { return h.state("all").Used == 0 })
}
