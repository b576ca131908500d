package gateway_test

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// K11: a service that breaks its connections on a request sees it once, however
// many connections there are to try again on and whatever the request is.
func TestNoRequestIsSentTwiceBehindEverybodysBack(t *testing.T) {
	var calls atomic.Int64
	h := start(t, "  all: { slots: 8 }", func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/break" {
			calls.Add(1)
			panic(http.ErrAbortHandler)
		}
	})
	for _, tt := range []struct{ method, header string }{
		{"GET", ""}, {"HEAD", ""}, {"OPTIONS", ""}, {"DELETE", "Idempotency-Key"}, {"POST", "Idempotency-Key"}, {"POST", "X-Idempotency-Key"},
	} {
		done := make(chan struct{})
		for range 8 { // leave idle connections to the service
			go func() { h.get("/"); done <- struct{}{} }()
		}
		for range 8 {
			<-done
		}
		calls.Store(0)
		header := []string{}
		if tt.header != "" {
			header = []string{tt.header, "k1"}
		}
		want(t, h.send(tt.method, "/break", nil, header...), 502, "failed", "refusal")
		if n := calls.Load(); n != 1 {
			t.Errorf("%s %s: sent %d times, want once", tt.method, tt.header, n)
		}
	}
}

// An idle connection that the service has closed is not the caller's trouble:
// a safe request is sent again, once, and that is counted. Under a call policy too it is
// no attempt, and no fault of the copy's that would open the breaker.
func TestAStaleConnectionIsTriedAgainOnce(t *testing.T) {
	for name, call := range map[string]string{"alone": "", "by policy": ", call: { retries: 1, breaker: { consecutive: 1 } }"} {
		t.Run(name, func(t *testing.T) { triedAgainOnce(t, call) })
	}
}

func triedAgainOnce(t *testing.T, call string) {
	l := listen(t)
	defer l.Close()
	accepted := make(chan net.Conn, 4)
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			accepted <- c
		}
	}()
	serve := func(c net.Conn, answer bool) {
		r := bufio.NewReader(c)
		req, err := http.ReadRequest(r)
		if err != nil {
			t.Errorf("the service read no request: %v", err)
			return
		}
		if len(req.TransferEncoding) > 0 || req.ContentLength != 0 || req.Header.Get("Content-Length") != "" {
			t.Errorf("a GET came with a body: %v %d", req.TransferEncoding, req.ContentLength)
		}
		if answer {
			io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
		} else {
			c.Close()
		}
	}
	h := startAt(t, "http://"+l.Addr().String(), "  all: { slots: 8"+call+" }")
	answers := make(chan got, 1)
	go func() { answers <- h.get("/") }()
	first := <-accepted
	serve(first, true)
	want(t, <-answers, 200, "served", "primary")

	timer := time.NewTimer(700 * time.Millisecond) // longer than a busy connection idles
	<-timer.C
	go func() { answers <- h.get("/") }()
	serve(first, false)
	second := <-accepted
	defer second.Close()
	serve(second, true)
	last := <-answers
	want(t, last, 200, "served", "primary")
	if m := h.adminGet("/metrics").body; !strings.Contains(m, "\nspillway_resends_total 1\n") {
		t.Error("the second sending is not counted")
	}
	if n := last.Header.Get("X-Envoy-Attempt-Count"); call != "" && n != "1" {
		t.Errorf("it is said to be of %q attempts", n)
	}
	for _, c := range h.copies() {
		if c.Calls["failed"] != 0 || c.InFlight != 0 {
			t.Errorf("the copy is blamed: %v, %d in flight", c.Calls, c.InFlight)
		}
	}
}
