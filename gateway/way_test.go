package gateway_test

import (
	"io"
	"net/http"
	"strings"
	"testing"
)

// blocker is a service whose answers are held back until the test lets them go.
type blocker struct {
	began chan string // paths, as calls arrive
	let   chan struct{}
}

func newBlocker() *blocker {
	return &blocker{began: make(chan string, 1000), let: make(chan struct{}, 1000)}
}

func (b *blocker) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	io.Copy(io.Discard, r.Body)
	b.began <- r.URL.Path
	select {
	case <-b.let:
		io.WriteString(w, "done\n")
	case <-r.Context().Done(): // the call was cut
	}
}

func TestServedRefusedAndCounted(t *testing.T) {
	b := newBlocker()
	h := start(t, "  all: { slots: 1, memory: { limit: 1KiB, per_request: 1KiB }, deadline: 20s }", b.ServeHTTP)

	first := make(chan got, 1)
	go func() { first <- h.get("/slow") }()
	<-b.began
	refused := h.get("/second")
	want(t, refused, 503, "queue_bytes", "refusal")
	if refused.Header.Get("Retry-After") == "" || refused.Header.Get("Content-Type") != "application/problem+json" {
		t.Errorf("headers of a refusal: %v", refused.Header)
	}
	b.let <- struct{}{}
	served := <-first
	want(t, served, 200, "served", "primary")
	if served.body != "done\n" {
		t.Errorf("body %q", served.body)
	}

	m := h.adminGet("/metrics").body
	for _, line := range []string{
		`spillway_offered_total{class="all",resource="app"} 2`,
		`spillway_answered_total{class="all",reason="served",resource="app",rung="primary"} 1`,
		`spillway_answered_total{class="all",reason="queue_bytes",resource="app",rung="refusal"} 1`,
		`spillway_queue_wait_seconds_count{class="all",resource="app"} 1`,
	} {
		if !strings.Contains(m, line+"\n") {
			t.Errorf("metrics lack %s", line)
		}
	}
	if t.Failed() {
		t.Log(m)
	}
}
