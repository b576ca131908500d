package gateway_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"runtime"
	"strings"
	"testing"

	"github.com/spillway-dev/spillway/policy/reason"
)

// dial opens a connection to the gateway and sends it a request as written.
func (h *harness) dial(format string, a ...any) net.Conn {
	h.Helper()
	c, err := net.Dial("tcp", h.addr)
	if err != nil {
		h.Fatal(err)
	}
	h.Cleanup(func() { c.Close() })
	if _, err := fmt.Fprintf(c, format, a...); err != nil {
		h.Fatal(err)
	}
	return c
}

// C1, K2: callers who hang up while they wait are out of the queue at once,
// read or unread their bodies may be; the service sees only those who are still
// there.
func TestCallersWhoHangUpLeaveTheQueue(t *testing.T) {
	bodies := map[string]string{
		"no body":          "GET /waits HTTP/1.1\r\nHost: x\r\n\r\n",
		"an unread body":   "POST /waits HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nwhole",
		"a half-sent body": "POST /waits HTTP/1.1\r\nHost: x\r\nContent-Length: 500000\r\n\r\nhalf",
		"a chunked body":   "POST /waits HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\n",
	}
	for name, request := range bodies {
		t.Run(name, func(t *testing.T) {
			if runtime.GOOS != "linux" && name != "no body" {
				t.Skip("only Linux tells of a hang-up behind an unread body")
			}
			b := newBlocker()
			h := start(t, "  all: { slots: 1, order: fifo, memory: { limit: 640KiB, per_request: 128KiB } }", b.ServeHTTP)
			first := make(chan got, 1)
			go func() { first <- h.get("/first") }()
			<-b.began

			var waiters []net.Conn
			for n := range 5 {
				waiters = append(waiters, h.dial("%s", request))
				until(t, "it waits", func() bool { return h.state("all").Waiting == n+1 })
			}
			for _, c := range waiters {
				c.Close()
			}
			until(t, "all five have left", func() bool { return h.state("all").Waiting == 0 })
			sixth := make(chan got, 1)
			go func() { sixth <- h.send("POST", "/sixth", strings.NewReader("x")) }()
			until(t, "the sixth waits", func() bool { return h.state("all").Waiting == 1 })
			b.let <- struct{}{}
			b.let <- struct{}{}
			want(t, <-first, 200, "served", "primary")
			want(t, <-sixth, 200, "served", "primary")
			if path := <-b.began; path != "/sixth" || len(b.began) != 0 {
				t.Errorf("after the first the service saw %s and %d more; want /sixth alone", path, len(b.began))
			}
			if n := h.state("all").Tally.Answered[reason.CallerGone]; n != 5 {
				t.Errorf("%d callers gone on the account, want 5", n)
			}
		})
	}
}

// A caller that hangs up halfway through its body ends the call: half a request
// is none, and its slot is not held for it.
func TestHangingUpHalfwayThroughABody(t *testing.T) {
	began := make(chan struct{}, 1)
	h := start(t, "  all: { slots: 1, abandoned: { cancel: off } }", func(w http.ResponseWriter, r *http.Request) {
		began <- struct{}{}
		io.Copy(io.Discard, r.Body)
	})
	c := h.dial("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 500000\r\n\r\nhalf")
	<-began
	c.Close()
	until(t, "the slot is free", func() bool { return h.state("all").Used == 0 })
	if n := h.state("all").Tally.Answered[reason.CallerGone]; n != 1 {
		t.Errorf("%d callers gone on the account, want 1: %v", n, h.state("all").Tally)
	}
}

// A deadline that passes while the caller still sends is answered at once, and
// nothing of the rest is taken for a request.
func TestADeadlineInsideABody(t *testing.T) {
	h := start(t, "  all: { slots: 1, deadline: 100ms, abandoned: { cancel: off } }", func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/smuggled" {
			t.Error("the rest of a body was served as a request")
		}
		io.Copy(io.Discard, r.Body)
	})
	c := h.dial("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 500\r\n\r\nhalf")
	res, err := readResponse(c)
	if err != nil {
		t.Fatal(err)
	}
	want(t, res, 504, "timeout", "refusal")
	fmt.Fprint(c, "GET /smuggled HTTP/1.1\r\nHost: x\r\n\r\n")
	if rest, _ := io.ReadAll(c); len(rest) > 0 {
		t.Errorf("after the refusal came %q", rest)
	}
	until(t, "the slot is free", func() bool { return h.state("all").Used == 0 })
}

func TestHangingUpOverHTTP2(t *testing.T) {
	b := newBlocker()
	h := start(t, "  all: { slots: 1 }", b.ServeHTTP)
	client := h2c(t)
	first := make(chan got, 1)
	go func() { first <- h.get("/first") }()
	<-b.began
	ctx, hangUp := context.WithCancel(context.Background())
	gone := make(chan error, 1)
	go func() {
		body, w := io.Pipe()
		defer w.Close()
		req, _ := http.NewRequestWithContext(ctx, "POST", h.url+"/waits", body)
		_, err := client.Do(req)
		gone <- err
	}()
	until(t, "it waits", func() bool { return h.state("all").Waiting == 1 })
	hangUp()
	<-gone
	until(t, "it has left", func() bool { return h.state("all").Waiting == 0 })
	b.let <- struct{}{}
	want(t, <-first, 200, "served", "primary")
}
