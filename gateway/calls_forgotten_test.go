package gateway_test

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/spillway-dev/spillway/gate/caller"
	"github.com/spillway-dev/spillway/gate/httpgate"
	"github.com/spillway-dev/spillway/policy/call"
)

// K4, by its caller: not the class's deadline passes but the caller's patience, again and
// again, in every try of every call. What it no longer waits for is not forgotten: the
// service, which heeds nobody's leaving, never has more to do than there are slots.
func TestCallersWhoGiveUpDoNotMultiplyWork(t *testing.T) {
	for name, said := range map[string]bool{"says how long it waits": true, "just leaves": false} {
		t.Run(name, func(t *testing.T) {
			let := make(chan struct{})
			g := &gauge{serve: func(http.ResponseWriter, *http.Request) { <-let }}
			h := start(t, "  all: { slots: 2, deadline: 20s, feasible: off }", g.ServeHTTP)
			impatient, err := caller.New(call.Policy{Timeout: 50 * time.Millisecond, Retries: 2, Budget: call.Budget{Off: true}})
			if err != nil {
				t.Fatal(err)
			}
			client := &http.Client{Transport: httpgate.NewTransport(h.client.Transport, impatient, httpgate.PassDeadline(said))}
			for range 10 {
				if res, err := client.Get(h.url); err == nil {
					res.Body.Close()
				}
			}
			if n := g.most.Load(); n != 2 {
				t.Errorf("the service had %d calls at once, want 2", n)
			}
			until(t, "only the work that goes on holds slots", func() bool {
				s := h.state("all")
				return s.Used == 2 && s.Waiting == 0 && s.Tally.Abandoned == 2
			})
			close(let)
			until(t, "the slots are free again", func() bool { return h.state("all").Used == 0 })
		})
	}
}

// Where a class's calls have more than one try what is cut off is cut off, and the slot is
// free. A service that heeds it has one thing to do at a time. What bounds the work of one
// that does not is the breaker: as many as it takes to open it, and a probe at a time.
func TestWhatACallPolicyCutsOffIsBoundedByItsBreaker(t *testing.T) {
	const tries, opens = 2, 4
	for name, heeds := range map[string]bool{"heeds it": true, "is deaf": false} {
		t.Run(name, func(t *testing.T) {
			let := make(chan struct{})
			g := &gauge{}
			cut := make(chan struct{}, 100)
			g.serve = func(_ http.ResponseWriter, r *http.Request) {
				if !heeds {
					<-let
					return
				}
				<-r.Context().Done()
				cut <- struct{}{}
			}
			breaker := ""
			if !heeds {
				breaker = fmt.Sprintf(", breaker: { consecutive: %d, open_for: 1m, open_max: 1m }", opens)
			}
			h := start(t, fmt.Sprintf("  all: { match: { path: \"/*\" }, slots: 2, deadline: 20s, call: { timeout: 30ms, retries: %d, retry_budget: off, backoff: off%s } }", tries-1, breaker), g.ServeHTTP)
			for range 10 {
				h.get("/")
				if !heeds {
					continue
				}
				for range tries {
					<-cut // each attempt is
				}
			}
			if most := map[bool]int64{true: tries, false: opens}[heeds]; g.most.Load() > most {
				t.Errorf("the service had %d calls at once, want at most %d", g.most.Load(), most)
			}
			if s := h.state("all"); s.Used != 0 {
				t.Errorf("%d slots are held", s.Used)
			}
			close(let)
		})
	}
}
