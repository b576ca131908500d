package gateway_test

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/textproto"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/spillway-dev/spillway/gateway"
	"github.com/spillway-dev/spillway/policy/reason"
)

// F14: an event reaches the caller before the next is sent, and no deadline
// ends a stream that has begun.
func TestEventsArriveOneByOneAndOutliveTheDeadline(t *testing.T) {
	next := make(chan int)
	h := start(t, "  all: { slots: 1, deadline: 100ms }", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		w.WriteHeader(200)
		for n := range next {
			fmt.Fprintf(w, "data: %d\n\n", n)
			w.(http.Flusher).Flush()
		}
	})
	go func() { next <- 0 }()
	res, err := h.client.Get(h.url)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	lines := bufio.NewReader(res.Body)
	begun := time.Now()
	for n := range 5 {
		if n > 0 {
			next <- n // only after the one before has arrived
		}
		line, err := lines.ReadString('\n')
		if err != nil || line != fmt.Sprintf("data: %d\n", n) {
			t.Fatalf("event %d: %q, %v", n, line, err)
		}
		lines.ReadString('\n')
		if n == 3 { // well past the deadline
			timer := time.NewTimer(150*time.Millisecond - time.Since(begun))
			<-timer.C
		}
	}
	if s := h.state("all"); s.Used != 1 || s.Tally.Running != 1 {
		t.Errorf("while it flows %d slots are used, %d run; want 1 and 1", s.Used, s.Tally.Running)
	}
	close(next)
	if rest, err := io.ReadAll(lines); err != nil || len(rest) != 0 {
		t.Errorf("the end: %q, %v", rest, err)
	}
}

// K8: what a caller says it accepts does not switch its deadline off.
func TestNoHeaderOfTheCallerSwitchesTheDeadlineOff(t *testing.T) {
	b := newBlocker()
	h := start(t, "  all: { slots: 8, deadline: 50ms }", b.ServeHTTP)
	for _, header := range [][]string{
		{"Accept", "text/event-stream"}, {"Upgrade", "websocket", "Connection", "Upgrade"},
		{"Content-Type", "application/grpc"}, {"X-Envoy-Upstream-Rq-Timeout-Ms", "0"},
	} {
		if res := h.get("/", header...); res.StatusCode != 504 {
			t.Errorf("%v: answered %d, want 504", header, res.StatusCode)
		}
	}
}

// B3: callers that hang up inside a stream give its one slot back, every time.
func TestHangingUpInsideAStreamFreesTheSlot(t *testing.T) {
	h := start(t, "  all: { slots: 1 }", func(w http.ResponseWriter, r *http.Request) {
		io.WriteString(w, "first")
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	})
	const rounds = 250 // on each of the two ways
	for range rounds {
		res, err := h.client.Get(h.url)
		if err != nil {
			t.Fatal(err)
		}
		if res.StatusCode != 200 {
			t.Fatalf("answered %d", res.StatusCode)
		}
		io.ReadFull(res.Body, make([]byte, 5))
		res.Body.Close()
	}
	until(t, "the last slot is free", func() bool { return h.state("all").Used == 0 })
	if n := h.state("all").Tally.Answered[reason.CallerGone]; n != rounds {
		t.Errorf("%d callers gone on the account, want %d", n, rounds)
	}
}

func TestAStreamThatStandsStillIsCut(t *testing.T) {
	big := bytes.Repeat([]byte("x"), 64<<10)
	tests := []struct {
		name  string
		serve http.HandlerFunc
		read  bool // the caller reads
	}{
		{"the service sends nothing more", func(w http.ResponseWriter, r *http.Request) {
			io.WriteString(w, "first")
			w.(http.Flusher).Flush()
			<-r.Context().Done()
		}, true},
		{"the caller reads nothing more", func(w http.ResponseWriter, r *http.Request) {
			for r.Context().Err() == nil {
				if _, err := w.Write(big); err != nil {
					return
				}
			}
		}, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			h := start(t, "  all: { slots: 1 }", tt.serve, func(o *gateway.Options) { o.StreamIdle = 100 * time.Millisecond })
			res, err := h.client.Get(h.url)
			if err != nil {
				t.Fatal(err)
			}
			defer res.Body.Close()
			if tt.read {
				if _, err := io.ReadAll(res.Body); err == nil {
					t.Error("a stream that was cut looks whole")
				}
			}
			until(t, "the slot is free", func() bool { return h.state("all").Used == 0 })
		})
	}
}

func TestWhatHTTPCanDoGoesThrough(t *testing.T) {
	h := start(t, "  all: { slots: 8 }", func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/hints":
			w.Header().Set("Link", "</style.css>; rel=preload")
			w.WriteHeader(http.StatusEarlyHints)
			w.Header().Del("Link")
			io.WriteString(w, "after hints")
		case "/trailers":
			body, _ := io.ReadAll(r.Body)
			w.Header().Set("Trailer", "X-Sum")
			fmt.Fprintf(w, "%s/%s", body, r.Trailer.Get("X-Asked"))
			w.Header().Set("X-Sum", "42")
			w.Header().Set(http.TrailerPrefix+"X-Late", "43")
		case "/echo":
			n, _ := io.Copy(io.Discard, r.Body)
			fmt.Fprintf(w, "%s %d %v", r.Method, n, r.TransferEncoding)
		case "/seen":
			fmt.Fprintf(w, "%s|%s|%s|%s|%s", r.Host, r.URL.RawQuery, r.Header.Get("X-Forwarded-For"), r.Header.Get("Connection"), r.Header.Get("User-Agent"))
		case "/large":
			w.Write(bytes.Repeat([]byte("0123456789abcdef"), 1<<18))
		case "/nothing":
			w.WriteHeader(http.StatusNoContent)
		}
	})

	t.Run("early hints", func(t *testing.T) {
		var hints []string
		trace := &httptrace.ClientTrace{Got1xxResponse: func(code int, header textproto.MIMEHeader) error {
			hints = append(hints, fmt.Sprint(code, header.Get("Link")))
			return nil
		}}
		req, _ := http.NewRequestWithContext(httptrace.WithClientTrace(context.Background(), trace), "GET", h.url+"/hints", nil)
		res, err := read(h.client.Do(req))
		if err != nil || res.body != "after hints" || res.Header.Get("Link") != "" {
			t.Errorf("%q, %v, %v", res.body, res.Header, err)
		}
		if len(hints) != 1 || hints[0] != "103</style.css>; rel=preload" {
			t.Errorf("hints %q", hints)
		}
	})
	t.Run("trailers both ways", func(t *testing.T) {
		req, _ := http.NewRequest("POST", h.url+"/trailers", io.MultiReader(strings.NewReader("bo"), strings.NewReader("dy")))
		req.Trailer = http.Header{"X-Asked": {"yes"}}
		res, err := read(h.client.Do(req))
		if err != nil || res.body != "body/yes" || res.Trailer.Get("X-Sum") != "42" || res.Trailer.Get("X-Late") != "43" {
			t.Errorf("%q, trailers %v, %v", res.body, res.Trailer, err)
		}
	})
	t.Run("bodies", func(t *testing.T) {
		if res := h.send("PUT", "/echo", strings.NewReader(strings.Repeat("x", 3<<20))); res.body != "PUT 3145728 []" {
			t.Errorf("a known length: %q", res.body)
		}
		if res := h.send("POST", "/echo", io.MultiReader(strings.NewReader("abc"))); res.body != "POST 3 [chunked]" {
			t.Errorf("chunked: %q", res.body)
		}
		if res := h.send("GET", "/echo", nil); res.body != "GET 0 []" {
			t.Errorf("none: %q", res.body)
		}
		if res := h.send("POST", "/echo", nil); res.body != "POST 0 []" {
			t.Errorf("an empty POST: %q", res.body)
		}
	})
	t.Run("a large answer", func(t *testing.T) {
		res := h.get("/large")
		if want := sha256.Sum256(bytes.Repeat([]byte("0123456789abcdef"), 1<<18)); sha256.Sum256([]byte(res.body)) != want {
			t.Errorf("%d bytes differ", len(res.body))
		}
	})
	t.Run("HEAD", func(t *testing.T) {
		res := h.send("HEAD", "/large", nil)
		want(t, res, 200, "served", "primary")
		if res.body != "" {
			t.Errorf("HEAD brought %d bytes", len(res.body))
		}
	})
	t.Run("no content", func(t *testing.T) { want(t, h.get("/nothing"), 204, "served", "primary") })
	t.Run("what the service sees", func(t *testing.T) {
		res := h.get("/seen?a=1&b=2", "X-Forwarded-For", "6.6.6.6", "Host", "ignored", "User-Agent", "me")
		if res.body != h.addr+"|a=1&b=2|127.0.0.1||me" {
			t.Errorf("%q", res.body)
		}
	})
	t.Run("100-continue", func(t *testing.T) {
		continued := false
		trace := &httptrace.ClientTrace{Got100Continue: func() { continued = true }}
		req, _ := http.NewRequestWithContext(httptrace.WithClientTrace(context.Background(), trace), "POST", h.url+"/echo", strings.NewReader("body"))
		req.Header.Set("Expect", "100-continue")
		c := &http.Client{Transport: &http.Transport{ExpectContinueTimeout: soon, DisableKeepAlives: true}}
		res, err := read(c.Do(req))
		if err != nil || !strings.HasPrefix(res.body, "POST 4") || !continued {
			t.Errorf("%q, continued %v, %v", res.body, continued, err)
		}
	})
}

func TestWebSocketEcho(t *testing.T) {
	h := start(t, "  all: { slots: 1, deadline: 2s }", func(w http.ResponseWriter, r *http.Request) {
		c, err := websocket.Accept(w, r, nil)
		if err != nil {
			return
		}
		defer c.CloseNow()
		for {
			kind, b, err := c.Read(r.Context())
			if err != nil || c.Write(r.Context(), kind, b) != nil {
				return
			}
		}
	})
	ctx, cancel := context.WithTimeout(context.Background(), soon)
	defer cancel()
	c, res, err := websocket.Dial(ctx, h.url, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer c.CloseNow()
	if res.Header.Get("Spillway-Rung") != "primary" {
		t.Errorf("headers of the upgrade: %v", res.Header)
	}
	for n := range 100 {
		sent := strings.Repeat("x", n*100)
		if err := c.Write(ctx, websocket.MessageText, []byte(sent)); err != nil {
			t.Fatal(err)
		}
		if _, b, err := c.Read(ctx); err != nil || string(b) != sent {
			t.Fatalf("message %d: %d bytes, %v", n, len(b), err)
		}
	}
	if s := h.state("all"); s.Used != 1 {
		t.Errorf("an open connection holds %d slots, want 1", s.Used)
	}
	c.Close(websocket.StatusNormalClosure, "")
	until(t, "the slot is free", func() bool { return h.state("all").Used == 0 })
	if n := h.state("all").Tally.Answered[reason.Served]; n != 1 {
		t.Errorf("%d served on the account, want 1", n)
	}
}

// An upgrade in which nothing moves is cut like any stream.
func TestAnIdleUpgradeIsCut(t *testing.T) {
	h := start(t, "  all: { slots: 1 }", func(w http.ResponseWriter, r *http.Request) {
		c, brw, err := http.NewResponseController(w).Hijack()
		if err != nil {
			return
		}
		defer c.Close()
		io.WriteString(c, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: raw\r\n\r\n")
		io.Copy(c, brw)
	}, func(o *gateway.Options) { o.StreamIdle = 100 * time.Millisecond })
	c, err := net.Dial("tcp", h.addr)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	io.WriteString(c, "GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: raw\r\n\r\n")
	r := bufio.NewReader(c)
	res, err := http.ReadResponse(r, nil)
	if err != nil || res.StatusCode != 101 {
		t.Fatalf("%v, %v", res, err)
	}
	io.WriteString(c, "ping")
	echo := make([]byte, 4)
	if _, err := io.ReadFull(r, echo); err != nil || string(echo) != "ping" {
		t.Fatalf("%q, %v", echo, err)
	}
	if _, err := r.ReadByte(); err == nil {
		t.Error("the connection is still open")
	}
	until(t, "the slot is free", func() bool { return h.state("all").Used == 0 })
}
