package gateway_test

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// Cases K3 over sockets: what the file says of a request is what is enforced. Of a
// flood that the list answers as well most get it at once, with the reason, and what
// the law went by is shown.
func TestAFloodTakesTheListAtOnce(t *testing.T) {
	const answer = 20 // ms
	h := start(t, fmt.Sprintf(`
  lists:
    slots: 2
    budget: { latency: 200ms, service: %dms }
    deadline: 10s
    session: { key: "header:X-Writer", span: 10s }
    ladder: [ { static: { file: %s } } ]
    gap: { expr: "query.q == 'long' ? 0.0 : 1.0" }`, answer, static(t)),
		func(w http.ResponseWriter, r *http.Request) {
			select {
			case <-r.Context().Done():
			case <-time.After(answer * time.Millisecond):
			}
		})
	var all sync.WaitGroup
	var shed, other atomic.Int64
	for i := range 600 {
		all.Go(func() {
			g, err := h.try("GET", "/?q=long", nil, "X-Writer", fmt.Sprint(i))
			if err != nil {
				t.Error(err)
				return
			}
			switch why := g.Header.Get("Spillway-Reason"); {
			case why == "shed_for_load" && g.Header.Get("Spillway-Rung") == "static" && g.StatusCode == http.StatusOK && strings.Contains(g.body, "list"):
				shed.Add(1)
			case why == "shed_for_load":
				t.Errorf("shed, and answered with %d from %q: %s", g.StatusCode, g.Header.Get("Spillway-Rung"), g.body)
			default:
				other.Add(1)
			}
		})
		if i%100 == 99 {
			all.Wait()
		}
	}
	all.Wait()
	if shed.Load() < 100 {
		t.Errorf("%d of 600 were shed, %d not", shed.Load(), other.Load())
	}
	h.addsUp()
	s := h.state("lists").Shed
	if s == nil || s.SustainablePerS <= 0 || s.DemandPerS <= s.SustainablePerS {
		t.Errorf("the law found %+v", s)
	}
	pools := h.adminGet("/debug/pools", "Accept", "application/json").body
	metrics := h.adminGet("/metrics").body
	for text, want := range map[string]string{pools: `"demand_per_s"`, metrics: `spillway_shed_share_ratio{class="lists"`} {
		if !strings.Contains(text, want) {
			t.Errorf("%s is not shown", want)
		}
	}
}

// A class with a ladder sheds unless it says off.
func TestAClassMaySayThatItDoesNotShed(t *testing.T) {
	for shed, want := range map[string]bool{"": true, "\n    shed: off": false} {
		h := start(t, fmt.Sprintf("\n  lists:\n    slots: 1\n    ladder: [ { static: { file: %s } } ]%s", static(t), shed), func(http.ResponseWriter, *http.Request) {})
		if got := h.state("lists").Shed != nil; got != want {
			t.Errorf("%q: sheds %v", shed, got)
		}
	}
}
