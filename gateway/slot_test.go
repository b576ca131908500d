package gateway_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/spillway-dev/spillway/gateway"
	"github.com/spillway-dev/spillway/policy/reason"
)

// gauge is a service that counts how many calls it has at once.
type gauge struct {
	calls, now, most atomic.Int64
	serve            http.HandlerFunc
}

func (g *gauge) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	g.calls.Add(1)
	n := g.now.Add(1)
	defer g.now.Add(-1)
	for m := g.most.Load(); n > m && !g.most.CompareAndSwap(m, n); m = g.most.Load() {
	}
	g.serve(w, r)
}

// B5, K4: the deadline passes, the service ignores it and works on. Its slot is
// held as long as it does; it never sees more calls than there are slots.
func TestWorkThatOutlivesItsDeadlineKeepsItsSlot(t *testing.T) {
	let := make(chan struct{})
	g := &gauge{serve: func(w http.ResponseWriter, r *http.Request) { <-let }}
	h := start(t, "  all: { slots: 2, deadline: 50ms, abandoned: { cancel: off }, feasible: off }", g.ServeHTTP)
	for range 10 {
		res := h.get("/")
		if res.StatusCode != 504 {
			t.Fatalf("answered %d, want 504", res.StatusCode)
		}
	}
	if n := g.most.Load(); n != 2 {
		t.Errorf("the service had %d calls at once, want 2", n)
	}
	s := h.state("all")
	if s.Used != 2 || s.Tally.Abandoned != 2 {
		t.Errorf("%d slots used, %d abandoned; want 2 and 2", s.Used, s.Tally.Abandoned)
	}
	if n := s.Tally.Answered[reason.Timeout]; n != 2 {
		t.Errorf("%d timed out at the call, want 2; the other 8 expired in the queue", n)
	}
	close(let)
	until(t, "the slots are free again", func() bool { return h.state("all").Used == 0 })
}

// K6: a late answer reaches nobody: the caller has a whole 504 by then, and its
// connection serves the next request as if nothing had been.
func TestLateAnswersReachNobody(t *testing.T) {
	let := make(chan struct{})
	h := start(t, "  all: { slots: 2, deadline: 200ms, abandoned: { cancel: off }, feasible: off }", func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/slow" {
			<-let
			io.WriteString(w, "late")
			return
		}
		io.WriteString(w, "prompt")
	})
	client := &http.Client{Transport: &http.Transport{MaxConnsPerHost: 1}}
	defer client.CloseIdleConnections()
	slow, err := read(client.Get(h.url + "/slow"))
	if err != nil {
		t.Fatal(err)
	}
	want(t, slow, 504, "timeout", "refusal")
	if strings.Contains(slow.body, "late") || !strings.HasPrefix(slow.body, `{"type"`) {
		t.Errorf("body of the refusal: %q", slow.body)
	}
	close(let)
	until(t, "the slot is free", func() bool { return h.state("all").Used == 0 })
	prompt, err := read(client.Get(h.url + "/prompt"))
	if err != nil {
		t.Fatal(err)
	}
	want(t, prompt, 200, "served", "primary")
	if prompt.body != "prompt" {
		t.Errorf("body of the next answer: %q", prompt.body)
	}
}

func TestCancelCutsTheCallAndFreesTheSlot(t *testing.T) {
	cut := make(chan struct{}, 1)
	h := start(t, "  all: { slots: 1, deadline: 200ms, feasible: off, abandoned: { cancel: on } }", func(w http.ResponseWriter, r *http.Request) {
		<-r.Context().Done()
		cut <- struct{}{}
	})
	want(t, h.get("/"), 504, "timeout", "refusal")
	until(t, "the call is cut", func() bool { return len(cut) == 1 })
	until(t, "the slot is free", func() bool { return h.state("all").Used == 0 })
}

// A frozen service holds its slot for hold_at_most and no longer; the call is
// cut then.
func TestTheHardCapFreesTheSlotOfAFrozenService(t *testing.T) {
	cut := make(chan struct{}, 1)
	h := start(t, "  all: { slots: 1, deadline: 200ms, feasible: off, abandoned: { cancel: off, hold_at_most: 100ms } }", func(w http.ResponseWriter, r *http.Request) {
		<-r.Context().Done()
		cut <- struct{}{}
	})
	want(t, h.get("/"), 504, "timeout", "refusal")
	until(t, "the call is cut", func() bool { return len(cut) == 1 })
	until(t, "the slot is free", func() bool { return h.state("all").Used == 0 })
}

func TestACallersHangUpLeavesTheCallRunning(t *testing.T) {
	b := newBlocker()
	h := start(t, "  all: { slots: 1, abandoned: { cancel: off } }", b.ServeHTTP)
	ctx, hangUp := context.WithCancel(context.Background())
	gone := make(chan error, 1)
	go func() {
		req, _ := http.NewRequestWithContext(ctx, "POST", h.url+"/", strings.NewReader("body"))
		_, err := h.client.Do(req)
		gone <- err
	}()
	<-b.began
	hangUp()
	if err := <-gone; !errors.Is(err, context.Canceled) {
		t.Fatalf("the caller got %v", err)
	}
	until(t, "the work is abandoned", func() bool { return h.state("all").Tally.Abandoned == 1 })
	if n := h.state("all").Tally.Answered[reason.CallerGone]; n != 1 {
		t.Errorf("%d callers gone on the account, want 1", n)
	}
	b.let <- struct{}{}
	until(t, "the slot is free", func() bool { return h.state("all").Used == 0 })
}

// call.timeout ends one attempt before the deadline does.
func TestCallTimeout(t *testing.T) {
	b := newBlocker()
	h := start(t, "  all: { slots: 1, deadline: 20s, call: { timeout: 30ms }, abandoned: { cancel: off } }", b.ServeHTTP)
	want(t, h.get("/"), 504, "timeout", "refusal")
	if s := h.state("all"); s.Tally.Abandoned != 1 {
		t.Errorf("%d abandoned, want 1", s.Tally.Abandoned)
	}
	b.let <- struct{}{}
	until(t, "the slot is free", func() bool { return h.state("all").Used == 0 })
}

// B4: a service that breaks every connection takes no capacity away.
func TestAPanickingServiceLeaksNoSlot(t *testing.T) {
	g := &gauge{serve: func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/panic" {
			panic(http.ErrAbortHandler)
		}
		io.WriteString(w, "ok")
	}}
	h := start(t, "  all: { slots: 4 }", g.ServeHTTP)
	for range 100 {
		want(t, h.get("/panic"), 502, "failed", "refusal")
	}
	if n := g.calls.Load(); n != 100 {
		t.Errorf("the service was called %d times for 100 requests", n)
	}
	done := make(chan got)
	for range 4 {
		go func() { done <- h.get("/") }()
	}
	for range 4 {
		want(t, <-done, 200, "served", "primary")
	}
	if n := h.state("all").Tally.Answered[reason.Failed]; n != 100 {
		t.Errorf("%d failed on the account, want 100", n)
	}
}

// A service's own error is passed on as it is, and counted as the failure that
// it is.
func TestTheServicesOwnErrorsArePassedOn(t *testing.T) {
	h := start(t, "  all: { slots: 4 }", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Retry-After", "77")
		http.Error(w, "mine", http.StatusServiceUnavailable)
	})
	res := h.get("/")
	want(t, res, 503, "failed", "primary")
	if res.body != "mine\n" || res.Header.Get("Retry-After") != "77" {
		t.Errorf("passed on as %q, Retry-After %q", res.body, res.Header.Get("Retry-After"))
	}
	if m := h.adminGet("/metrics").body; !strings.Contains(m, `spillway_answered_total{class="all",reason="failed",resource="app",rung="primary"} 1`) {
		t.Error("the failure is not counted under rung primary")
	}
}

func TestNoServiceAtAll(t *testing.T) {
	l := listen(t)
	l.Close()
	h := startAt(t, "http://"+l.Addr().String(), "  all: { slots: 4 }")
	res := h.get("/")
	want(t, res, 502, "failed", "refusal")
	if res.Header.Get("Retry-After") == "" || strings.Contains(res.body, l.Addr().String()) {
		t.Errorf("a 502 says when to come back and not where the service is: %v %s", res.Header, res.body)
	}
}

// An answer that breaks off must not look whole.
func TestAnAnswerThatBreaksOffIsNotPassedOffAsWhole(t *testing.T) {
	h := start(t, "  all: { slots: 1 }", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Length", "100")
		io.WriteString(w, "half")
		w.(http.Flusher).Flush()
		panic(http.ErrAbortHandler)
	})
	if res, err := h.try("GET", "/", nil); err == nil {
		t.Errorf("the caller got a whole answer: %q", res.body)
	}
	until(t, "the slot is free", func() bool { return h.state("all").Used == 0 })
	if n := h.state("all").Tally.Answered[reason.Failed]; n != 1 {
		t.Errorf("%d failed on the account, want 1", n)
	}
}

// E4: the gateway's own refusals are no failures of the service.
func TestOwnRefusalsAreNoFailures(t *testing.T) {
	b := newBlocker()
	h := start(t, "  all: { slots: 1, when_full: drop, memory: { limit: 64KiB, per_request: 64KiB } }", b.ServeHTTP)
	first := make(chan got, 2)
	go func() { first <- h.get("/runs") }()
	<-b.began
	go func() { first <- h.get("/waits") }()
	until(t, "one waits", func() bool { return h.state("all").Waiting == 1 })
	for range 98 {
		res := h.get("/")
		want(t, res, 503, "dropped", "refusal")
		if res.Header.Get("X-Should-Retry") != "false" {
			t.Fatal("a dropped request is told to come back")
		}
	}
	for range 2 {
		b.let <- struct{}{}
		want(t, <-first, 200, "served", "primary")
	}
	if n := h.state("all").Tally.Answered[reason.Failed]; n != 0 {
		t.Errorf("%d failures on the account", n)
	}
	copies := h.copies()
	if len(copies) != 1 {
		t.Fatalf("%+v; want the one service", copies)
	}
	for _, c := range copies {
		if c.State != "in" || c.Calls["failed"]+c.Calls["busy"]+c.Calls["late"] != 0 || c.Calls["answered"] != 2 {
			t.Errorf("%+v; the service was called twice and answered", c)
		}
	}
}

// When the gateway is stopped, abandoned calls do not keep it.
func TestStoppingCutsWhatIsAbandoned(t *testing.T) {
	h := start(t, "  all: { slots: 1, deadline: 20ms, abandoned: { cancel: off, hold_at_most: 1h } }", func(w http.ResponseWriter, r *http.Request) {
		<-r.Context().Done()
	}, func(o *gateway.Options) { o.DrainLimit = time.Second })
	want(t, h.get("/"), 504, "timeout", "refusal")
	h.stop()
}
