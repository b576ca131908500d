package httpgate_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/spillway-dev/spillway/gate"
	"github.com/spillway-dev/spillway/gate/httpgate"
	"github.com/spillway-dev/spillway/policy/pool"
	"github.com/spillway-dev/spillway/policy/reason"
)

// An answer passes unchanged, with its rung and reason; trailers, 1xx and what
// outer handlers set included.
func TestServes(t *testing.T) {
	protocols(t, func(t *testing.T, serve func(http.Handler) *server) {
		g := open(t, gate.Class{Pool: gate.Pool{Slots: 1}})
		h := httpgate.Middleware(g)(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if _, ok := r.Context().Deadline(); !ok {
				t.Error("the handler's context has no deadline")
			}
			h := w.Header()
			h.Set("Trailer", "Declared")
			h.Set("Link", "</style.css>; rel=preload")
			w.WriteHeader(http.StatusEarlyHints)
			h.Del("Outer-Gone")
			h.Set("Inner", "yes")
			w.WriteHeader(http.StatusCreated)
			io.WriteString(w, "hello")
			h.Set("Declared", "1")
			h.Set(http.TrailerPrefix+"Late", "2")
		}))
		s := serve(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Outer", "yes")
			w.Header().Set("Outer-Gone", "yes")
			h.ServeHTTP(w, r)
		}))
		resp, body := s.get(t.Context(), t)
		wantAnswer(t, resp, 201, reason.Served)
		if body != "hello" || resp.Header.Get("Outer") != "yes" || resp.Header.Get("Inner") != "yes" || resp.Header.Get("Outer-Gone") != "" {
			t.Errorf("got %q, %v", body, resp.Header)
		}
		if resp.Trailer.Get("Declared") != "1" || resp.Trailer.Get("Late") != "2" {
			t.Errorf("trailers %v", resp.Trailer)
		}
		if n := drained(t, g).Tally.Answered[reason.Served]; n != 1 {
			t.Errorf("%d served", n)
		}
	})
}

// A handler that writes nothing has answered 200; one may say that it was a
// cheaper rung.
func TestServesNothingAndCheaper(t *testing.T) {
	g := open(t, gate.Class{Pool: gate.Pool{Slots: 1}})
	w := httptest.NewRecorder()
	httpgate.Middleware(g)(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set(httpgate.HeaderRung, "cache")
	})).ServeHTTP(w, httptest.NewRequest("GET", "/", nil))
	if w.Code != 200 || w.Header().Get("Spillway-Rung") != "cache" || w.Header().Get("Spillway-Reason") != "served" {
		t.Errorf("got %d, %v", w.Code, w.Header())
	}
	drained(t, g)
}

// A handler that ignores its deadline: the caller has a clean 504 at that
// instant, what is written later is discarded, and the slot is held until the
// handler has returned. Asking for an event stream changes nothing.
func TestIgnoredDeadline(t *testing.T) {
	protocols(t, func(t *testing.T, serve func(http.Handler) *server) {
		c := full()
		c.Deadline, c.AdmitHopeless = 50*time.Millisecond, true
		g := open(t, c)
		release, late := make(chan bool), make(chan error, 2)
		s := serve(httpgate.Middleware(g)(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Encoding", "none of the 504's")
			w.Header().Set("Content-Length", "4")
			<-r.Context().Done()
			if r.Context().Err() != context.DeadlineExceeded {
				t.Errorf("context ended with %v", r.Context().Err())
			}
			<-release
			w.WriteHeader(200)
			_, err := io.WriteString(w, "late")
			late <- err
			late <- http.NewResponseController(w).Flush()
		})))
		for _, accept := range []string{"*/*", "text/event-stream"} {
			resp, body := s.get(t.Context(), t, "Accept", accept)
			wantAnswer(t, resp, 504, reason.Timeout)
			if resp.Header.Get("Content-Encoding") != "" || !strings.HasSuffix(body, "}\n") || !strings.HasPrefix(body, "{") {
				t.Errorf("header %v, body %q", resp.Header, body)
			}
			// The work goes on, and so does its hold on the one slot.
			resp, _ = s.get(t.Context(), t)
			wantAnswer(t, resp, 503, reason.QueueFull)
			if st := g.States()[0]; st.Tally.Abandoned != 1 || st.Used != 1 {
				t.Errorf("abandoned %d, used %d", st.Tally.Abandoned, st.Used)
			}
			release <- true
			for range 2 {
				if err := <-late; !errors.Is(err, http.ErrHandlerTimeout) {
					t.Errorf("a late write got %v", err)
				}
			}
			drained(t, g)
		}
	})
}

// A deadline that passes while the handler reads a body that does not come.
func TestDeadlineWhileReadingTheBody(t *testing.T) {
	protocols(t, func(t *testing.T, serve func(http.Handler) *server) {
		c := full()
		c.Deadline = 50 * time.Millisecond
		g := open(t, c)
		read := make(chan error, 1)
		s := serve(httpgate.Middleware(g)(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			_, err := io.ReadAll(r.Body)
			read <- err
		})))
		s.client = s.Client() // which would keep the connection
		body, stuck := io.Pipe()
		resp, _, err := s.try(t.Context(), "POST", body)
		if err != nil {
			t.Fatal(err)
		}
		wantAnswer(t, resp, 504, reason.Timeout)
		stuck.Close()
		if err := <-read; err == nil {
			t.Error("the body ended without an error")
		}
		drained(t, g)
	})
}

// An answer that has begun is not cut, however long it flows.
func TestStreamOutlivesTheDeadline(t *testing.T) {
	protocols(t, func(t *testing.T, serve func(http.Handler) *server) {
		c := full()
		c.Deadline = patience
		g := open(t, c)
		next := make(chan string)
		s := serve(httpgate.Middleware(g)(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "text/event-stream")
			for event := range next {
				io.WriteString(w, event)
				w.(http.Flusher).Flush()
			}
			if err := r.Context().Err(); err != nil {
				t.Errorf("the stream was cut: %v", err)
			}
			if _, ok := r.Context().Deadline(); ok {
				t.Error("the deadline still stands")
			}
		})))
		time.AfterFunc(10*time.Millisecond, func() { next <- "first" })
		resp, err := s.client.Get(s.URL)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		wantAnswer(t, resp, 200, reason.Served)
		buf := make([]byte, 5)
		if _, err := io.ReadFull(resp.Body, buf); err != nil || string(buf) != "first" {
			t.Fatalf("%q, %v", buf, err)
		}
		<-time.After(patience + patience/10) // past the deadline
		next <- "again"
		if _, err := io.ReadFull(resp.Body, buf); err != nil || string(buf) != "again" {
			t.Fatalf("%q, %v", buf, err)
		}
		close(next)
		if n := drained(t, g).Tally.Answered[reason.Served]; n != 1 {
			t.Errorf("%d served", n)
		}
	})
}

// A panic, an abort and the end of the goroutine free the slot, and are the
// server's affair as they are without the middleware.
func TestPanic(t *testing.T) {
	protocols(t, func(t *testing.T, serve func(http.Handler) *server) {
		g := open(t, full())
		ends := map[string]func(){
			"panic":  func() { panic("boom") },
			"abort":  func() { panic(http.ErrAbortHandler) },
			"Goexit": runtime.Goexit,
		}
		s := serve(httpgate.Middleware(g)(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			ends[r.Header.Get("End")]()
		})))
		for name := range ends {
			if name == "Goexit" && s.EnableHTTP2 {
				continue // net/http's HTTP/2 server leaves the stream open, with or without us
			}
			for range 20 {
				if resp, _, err := s.try(t.Context(), "GET", nil, "End", name); err == nil {
					t.Fatalf("%s: answered %s", name, resp.Status)
				}
				drained(t, g)
			}
		}
		if n := g.States()[0].Tally.Answered[reason.Failed]; n < 40 {
			t.Errorf("%d failed", n)
		}
		if l := s.logged(); !strings.Contains(l, "boom") || !strings.Contains(l, "TestPanic") || strings.Contains(l, "abort") {
			t.Errorf("the log has not the handler's stack, or aborts: %s", l)
		}
	})
}

// A panic after the 504 is logged and nothing more.
func TestPanicAfterTheDeadline(t *testing.T) {
	c := full()
	c.Deadline = 10 * time.Millisecond
	g := open(t, c)
	release := make(chan bool)
	s := serve(t, "HTTP/1.1", httpgate.Middleware(g)(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		<-release
		panic("too late")
	})))
	resp, _ := s.get(t.Context(), t)
	wantAnswer(t, resp, 504, reason.Timeout)
	close(release)
	drained(t, g)
	eventually(t, "the log", func() bool { return strings.Contains(s.logged(), "too late") })
}

// A caller hangs up while its handler runs: the handler is told, the work counts
// as abandoned and keeps the slot until it ends.
func TestHangUp(t *testing.T) {
	protocols(t, func(t *testing.T, serve func(http.Handler) *server) {
		g := open(t, full())
		running, release := make(chan bool), make(chan bool)
		s := serve(httpgate.Middleware(g)(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			running <- true
			<-r.Context().Done()
			if r.Context().Err() != context.Canceled {
				t.Errorf("context ended with %v", r.Context().Err())
			}
			<-release
		})))
		ctx, hangUp := context.WithCancel(t.Context())
		gone := make(chan error, 1)
		go func() {
			_, _, err := s.try(ctx, "GET", nil)
			gone <- err
		}()
		<-running
		hangUp()
		<-gone
		eventually(t, "the work to be abandoned", func() bool { return g.States()[0].Tally.Abandoned == 1 })
		resp, _ := s.get(t.Context(), t)
		wantAnswer(t, resp, 503, reason.QueueFull)
		release <- true
		st := drained(t, g)
		if st.Tally.Answered[reason.CallerGone] != 1 {
			t.Errorf("account %+v", st.Tally)
		}
	})
}

// A caller hangs up while it waits: it is out of the queue and never run.
func TestHangUpWhileWaiting(t *testing.T) {
	protocols(t, func(t *testing.T, serve func(http.Handler) *server) {
		g := open(t, gate.Class{Pool: gate.Pool{Slots: 1, Bound: 5}})
		busy, _ := g.Enter(t.Context(), gate.Request{})
		s := serve(httpgate.Middleware(g)(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
			t.Error("ran for nobody")
		})))
		ctx, hangUp := context.WithCancel(t.Context())
		gone := make(chan error, 5)
		for range 5 {
			go func() {
				_, _, err := s.try(ctx, "GET", nil)
				gone <- err
			}()
		}
		eventually(t, "five to wait", func() bool { return g.States()[0].Waiting == 5 })
		hangUp()
		for range 5 {
			<-gone
		}
		eventually(t, "the queue to be empty", func() bool { return g.States()[0].Waiting == 0 })
		busy.Done()
		drained(t, g)
	})
}

// Refused before its body is read: the caller sees the answer every time, large
// body or not, waiting for 100 (Continue) or not.
func TestRefusedUpload(t *testing.T) {
	rounds := 200
	if testing.Short() {
		rounds = 5
	}
	protocols(t, func(t *testing.T, serve func(http.Handler) *server) {
		g := open(t, full())
		busy, _ := g.Enter(t.Context(), gate.Request{})
		defer busy.Done()
		s := serve(httpgate.Middleware(g)(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
			t.Error("ran")
		})))
		if tr, ok := s.client.Transport.(*http.Transport); ok {
			tr.ExpectContinueTimeout = time.Minute
		}
		large := make([]byte, 20<<20)
		for _, expect := range []string{"", "100-continue"} {
			for range rounds {
				body := &countingReader{Reader: bytes.NewReader(large)}
				resp, _, err := s.try(t.Context(), "POST", body, "Expect", expect)
				if err != nil {
					t.Fatalf("expecting %q: %v", expect, err)
				}
				wantAnswer(t, resp, 503, reason.QueueFull)
				if expect != "" && body.read() > 0 {
					t.Errorf("%d bytes were sent that nobody wanted", body.read())
				}
			}
		}
	})
}

// What the request says arrives at the gate: class, tenant, importance, timeout.
// Nothing that a caller can send is more than a wrong answer to itself.
func TestClassify(t *testing.T) {
	g, err := gate.New(gate.Config{Strict: true, Classes: []gate.Class{
		{Name: "standard", Pool: gate.Pool{Slots: 1}},
		{Name: "checkout", Pool: gate.Pool{Slots: 1, Bound: 1, WhenFull: pool.Displace, Levels: 2}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	seen := ""
	h := httpgate.Middleware(g,
		httpgate.Class(httpgate.Header("X-Class")),
		httpgate.Tenant(httpgate.Cookie("tenant")),
		httpgate.Importance(func(r *http.Request) int {
			var n int
			fmt.Sscan(r.Header.Get("X-Importance"), &n)
			return n
		}),
		httpgate.Cost(func(r *http.Request) int64 { return r.ContentLength }),
		httpgate.Timeout(func(r *http.Request) time.Duration {
			d, _ := time.ParseDuration(r.Header.Get("X-Timeout"))
			return d
		}),
	)(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for c := range 2 {
			for _, i := range g.Items(c, 1) {
				seen = fmt.Sprintf("%s %.9s %d %v", i.Class, i.Tenant, i.Importance, i.Deadline.Sub(i.Offered))
			}
		}
	}))
	long := strings.Repeat("x", 1000)
	for _, c := range []struct{ class, tenant, importance, timeout, want string }{
		{"", "", "", "", "standard  0 30s"},
		{"checkout", "acme", "1", "5s", "checkout acme 1 5s"},
		{"checkout", long, "100000", "1000h", "checkout xxxxxxxxx 1 5m0s"},
		{"nonsense", "\"", "-1", "-5s", "standard  0 30s"},
		{"checkout", "", "-99999999999999999999", "nonsense", "checkout  0 30s"},
		{"checkout", "", "-7", "0s", "checkout  1 30s"},
	} {
		r := httptest.NewRequest("POST", "/", strings.NewReader("body"))
		r.Header.Set("X-Class", c.class)
		r.Header.Set("Cookie", "tenant="+c.tenant)
		r.Header.Set("X-Importance", c.importance)
		r.Header.Set("X-Timeout", c.timeout)
		h.ServeHTTP(httptest.NewRecorder(), r)
		if seen != c.want {
			t.Errorf("%+v: the gate saw %q, want %q", c, seen, c.want)
		}
	}
}

func TestClientAddress(t *testing.T) {
	for remote, want := range map[string]string{
		"192.0.2.1:1234": "192.0.2.1", "[2001:db8::1]:1": "2001:db8::1", "@": "@", "": "",
	} {
		if got := httpgate.ClientAddress(&http.Request{RemoteAddr: remote}); got != want {
			t.Errorf("%q: got %q, want %q", remote, got, want)
		}
	}
}
