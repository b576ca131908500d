package gateway_test

import (
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/spillway-dev/spillway/policy/boundary"
	"github.com/spillway-dev/spillway/policy/reason"
)

// E2, K10: each reason that can be provoked is provoked over HTTP/1.1 and over gRPC, and
// what it says in the header, in the body and as gRPC's pushback is one story. Whether
// there is a story for every reason, whoever provokes it, is httpgate's test.
func TestEveryRefusalSaysWhenToComeBack(t *testing.T) {
	const patient = "deadline: 20s, feasible: off"
	tests := []struct {
		why     reason.Reason
		status  int
		classes string // of slots: 1
		fill    int    // requests that run or wait before
		another bool   // and one that comes after
		asks    []string
	}{
		{why: reason.QueueFull, status: 503, classes: "budget: { latency: 2ms, service: 1ms }, " + patient, fill: 2},
		{why: reason.QueueBytes, status: 503, classes: "memory: { limit: 1KiB, per_request: 1KiB }, " + patient, fill: 1},
		{why: reason.TenantFull, status: 429, classes: "tenant: { key: \"header:X-Tenant\", policy: wrr, queue: 1 }, " + patient, fill: 2},
		{why: reason.Dropped, status: 503, classes: "when_full: drop, budget: { latency: 2ms, service: 1ms }, " + patient, fill: 2},
		{why: reason.Evicted, status: 503, classes: "when_full: drop_oldest, memory: { limit: 64KiB, per_request: 64KiB }, " + patient, fill: 1, another: true},
		{why: reason.BlockTimeout, status: 503, classes: "when_full: { block: 20ms }, memory: { limit: 64KiB, per_request: 64KiB }, " + patient, fill: 2},
		{why: reason.Expired, status: 504, classes: patient, fill: 1, asks: []string{"X-Envoy-Upstream-Rq-Timeout-Ms", "20"}},
		{why: reason.Timeout, status: 504, classes: "deadline: 20ms, feasible: off"},
		{why: reason.Operator, status: 503, classes: patient},
		{why: reason.RateLimited, status: 429, classes: "clients: { rate: { burst: 1, per_second: 0.01 } }, " + patient, fill: 1},
		{why: reason.Failed, status: 502, classes: patient, asks: []string{"X-Break", "1"}},
	}
	for _, tt := range tests {
		t.Run(tt.why.String(), func(t *testing.T) {
			for name, grpc := range map[string]bool{"HTTP": false, "gRPC": true} {
				b := newBlocker()
				h := start(t, "  all: { slots: 1, "+tt.classes+" }", func(w http.ResponseWriter, r *http.Request) {
					if r.Header.Get("X-Break") != "" {
						panic(http.ErrAbortHandler)
					}
					b.ServeHTTP(w, r)
				})
				before := make(chan got, 9)
				for range tt.fill {
					offered := h.state("all").Tally.Offered
					go func() { before <- h.get("/before") }()
					until(t, "it runs or waits", func() bool { return h.state("all").Tally.Offered > offered })
				}
				if tt.why == reason.Operator {
					h.gate().Operate(0, boundary.RefuseAll, time.Minute)
				}
				answer := make(chan got, 1)
				go func() {
					if !grpc {
						answer <- h.get("/", tt.asks...)
						return
					}
					req, _ := http.NewRequest("POST", h.url+"/", strings.NewReader(""))
					req.Header.Set("Content-Type", "application/grpc")
					for i := 0; i+1 < len(tt.asks); i += 2 {
						req.Header.Set(tt.asks[i], tt.asks[i+1])
					}
					client := h2c(t)
					g, err := read(client.Do(req))
					client.CloseIdleConnections()
					if err != nil {
						t.Error(err)
					}
					answer <- g
				}()
				if tt.another {
					until(t, "it waits", func() bool { return h.state("all").Waiting == 1 })
					go func() { before <- h.get("/after") }()
				}
				g := <-answer
				if g.Response == nil {
					t.Fatalf("%s: no answer", name)
				}
				if grpc {
					wantPushback(t, g, tt.why)
				} else {
					want(t, g, tt.status, tt.why.String(), "refusal")
					wantOneStory(t, g)
				}
				for range 9 {
					b.let <- struct{}{}
				}
				h.stop()
			}
		})
	}
}

// wantOneStory compares a refusal's body with its headers.
func wantOneStory(t *testing.T, g got) {
	t.Helper()
	var p struct {
		Type, Reason string
		Status       int
		RetryAfterMS int64 `json:"retry_after_ms"`
	}
	if err := json.Unmarshal([]byte(g.body), &p); err != nil || g.Header.Get("Content-Type") != "application/problem+json" {
		t.Fatalf("%v, %q: %s", err, g.Header.Get("Content-Type"), g.body)
	}
	s, _ := strconv.ParseInt(g.Header.Get("Retry-After"), 10, 64)
	ms, _ := strconv.ParseInt(g.Header.Get("Retry-After-Ms"), 10, 64)
	if s < 1 || ms < 1 || s != (ms+999)/1000 || p.RetryAfterMS != ms || p.Status != g.StatusCode ||
		p.Reason != g.Header.Get("Spillway-Reason") || !strings.HasSuffix(p.Type, "/"+p.Reason+".md") {
		t.Errorf("in %d s, in %d ms; body %s", s, ms, g.body)
	}
}

// wantPushback checks that a refusal over gRPC says whose it is, and when to come back
// or that one is not to.
func wantPushback(t *testing.T, g got, why reason.Reason) {
	t.Helper()
	say := func(name string) string { return g.Header.Get(name) + g.Trailer.Get(name) }
	status, _ := strconv.Atoi(say("Grpc-Status"))
	pushback, err := strconv.Atoi(say("Grpc-Retry-Pushback-Ms"))
	if g.StatusCode != 200 || say("Spillway-Reason") != why.String() || status == 0 || err != nil || (pushback < 0) != (why == reason.Dropped) {
		t.Errorf("%d %v %v; want %v and a pushback", g.StatusCode, g.Header, g.Trailer, why)
	}
}

// K9: the room is full of what can be shed, somebody comes who cannot: the newest of the
// others makes way, is told so, and the important one is next.
func TestTheImportantAreNotTurnedAwayForOthers(t *testing.T) {
	b := newBlocker()
	h := start(t, `  all: { slots: 1, deadline: 20s, when_full: displace, memory: { limit: 128KiB, per_request: 64KiB },
    importance: { key: "header:X-Importance", levels: [critical, sheddable] } }`, b.ServeHTTP)
	answers := make(chan got, 9)
	go func() { answers <- h.get("/runs", "X-Importance", "sheddable") }()
	<-b.began
	room := h.state("all").Bound
	for n := range room {
		go func() { answers <- h.get("/sheddable", "X-Importance", "sheddable") }()
		until(t, "it waits", func() bool { return h.state("all").Waiting == n+1 })
	}
	want(t, h.get("/sheddable", "X-Importance", "sheddable"), 503, "queue_full", "refusal")
	served := make(chan got, 1)
	go func() { served <- h.get("/critical", "X-Importance", "critical") }()
	want(t, <-answers, 503, "evicted", "refusal")
	b.let <- struct{}{}
	if next := <-b.began; next != "/critical" {
		t.Errorf("%s is next", next)
	}
	b.let <- struct{}{}
	want(t, <-served, 200, "served", "primary")
	for range room {
		b.let <- struct{}{}
	}
	for range room {
		want(t, <-answers, 200, "served", "primary")
	}
}
