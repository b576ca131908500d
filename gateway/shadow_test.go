package gateway_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/spillway-dev/spillway/gateway"
	"github.com/spillway-dev/spillway/policy/reason"
)

// crowded is a service that answers nobody until it is let.
type crowded struct {
	began chan http.Header
	let   chan struct{}
}

func newCrowded() *crowded { return &crowded{make(chan http.Header, 100), make(chan struct{})} }

func (s *crowded) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.began <- r.Header
	<-s.let
	fmt.Fprint(w, "done")
}

// crowd sends n requests at once, waits until so many have reached the service,
// and returns their answers.
func (h *harness) crowd(s *crowded, n, reach int, header func(i int) []string) []got {
	h.Helper()
	answers := make([]got, n)
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() { answers[i] = h.get("/", header(i)...) })
	}
	for range reach {
		<-s.began
	}
	until(h, "every request is decided", func() bool { return h.state("all").Tally.Offered >= int64(n) })
	close(s.let)
	all.Wait()
	return answers
}

func nobody(int) []string { return nil }

const oneSlot = "  all: { slots: 1, memory: { limit: 1KiB, per_request: 1KiB }, session: { key: 'cookie:sid' }, deadline: 20s, call: { timeout: 10s }, mode: %s }"

// In shadow everybody is served at once, by an upstream that is told nothing, and
// the answer, the log, the metrics and /debug/pools say what would have been: one
// runs, and the room has no place for a body of unknown size.
func TestShadowRefusesNobodyAndSaysWhomItWould(t *testing.T) {
	s := newCrowded()
	var lines bytes.Buffer
	h := start(t, fmt.Sprintf(oneSlot, "shadow"), s.ServeHTTP, func(o *gateway.Options) {
		o.Logger = slog.New(slog.NewTextHandler(&lines, nil))
	})
	said := map[string]int{}
	for _, a := range h.crowd(s, 10, 10, nobody) {
		want(t, a, 200, "served", "primary")
		said[a.Header.Get("Spillway-Shadow")]++
	}
	if said["run"] != 1 || said["queue_bytes"]+said["queue_full"] != 9 {
		t.Errorf("answers say %v, want 1 run and 9 refused", said)
	}
	c := h.state("all")
	if c.Tally.Answered[reason.Served] != 10 || c.Shadow == nil || c.Shadow.Tally.Answered[reason.Served] != 1 || c.Shadow.Tally.Offered != 10 {
		t.Errorf("the account is %+v, the shadow's %+v", c.Tally, c.Shadow)
	}
	metrics := h.adminGet("/metrics").body
	for _, line := range []string{
		`spillway_answered_total{class="all",reason="served",resource="app",rung="primary"} 10`,
		`spillway_shadow_answered_total{class="all",reason="served",resource="app"} 1`,
		`spillway_shadow_offered_total{class="all",resource="app"} 10`,
		`spillway_enforced_ratio{class="all",mode="shadow",resource="app"} 0`,
	} {
		if !strings.Contains(metrics, line+"\n") {
			t.Errorf("metrics lack %s", line)
		}
	}
	var pools struct {
		Pools []struct {
			Mode   string
			Shadow struct{ Offered int }
		}
	}
	if err := json.Unmarshal([]byte(h.adminGet("/debug/pools", "Accept", "application/json").body), &pools); err != nil ||
		pools.Pools[0].Mode != "shadow" || pools.Pools[0].Shadow.Offered != 10 {
		t.Errorf("pools say %+v (%v)", pools, err)
	}
	if text := h.adminGet("/debug/pools").body; !strings.Contains(text, "mode      shadow") || !strings.Contains(text, "shadow    10 decided") {
		t.Errorf("pools say\n%s", text)
	}
	h.stop()
	if log := lines.String(); !strings.Contains(log, `msg="would be refused"`) || strings.Contains(log, "msg=refused") {
		t.Errorf("the log says\n%s", log)
	}
}

// What does nothing tells the upstream nothing: the class's deadline and timeout
// are those of a decision that is not carried out.
func TestShadowPassesOnNoDeadlineOfItsOwn(t *testing.T) {
	for mode, wanted := range map[string]bool{"enforce": true, "shadow": false, "off": false, "0%": false} {
		t.Run(mode, func(t *testing.T) {
			told := make(chan http.Header, 2)
			h := start(t, fmt.Sprintf(oneSlot, mode), func(w http.ResponseWriter, r *http.Request) { told <- r.Header })
			h.get("/")
			if got := (<-told).Get("X-Envoy-Expected-Rq-Timeout-Ms"); (got != "") != wanted {
				t.Errorf("the upstream was told a deadline of %q ms", got)
			}
			h.get("/", "X-Envoy-Expected-Rq-Timeout-Ms", "1234")
			if got := (<-told).Get("X-Envoy-Expected-Rq-Timeout-Ms"); got == "" || !wanted && got != "1234" {
				t.Errorf("the upstream was told a deadline of %q ms, the caller named 1234", got)
			}
		})
	}
}

// Off decides nothing, and says nothing of it; what runs is counted.
func TestOffLetsEverythingRun(t *testing.T) {
	s := newCrowded()
	h := start(t, fmt.Sprintf(oneSlot, "off"), s.ServeHTTP)
	for _, a := range h.crowd(s, 5, 5, nobody) {
		want(t, a, 200, "served", "primary")
		if said := a.Header.Values("Spillway-Shadow"); len(said) > 0 {
			t.Errorf("off says %q", said)
		}
	}
	if c := h.state("all"); c.Tally.Answered[reason.Served] != 5 || c.Shadow.Tally.Offered != 0 {
		t.Errorf("the account is %+v, the shadow's %+v", c.Tally, c.Shadow)
	}
}

// At 50 % a session is decided for in earnest or it is not: refusals go to the
// same sessions, over and over.
func TestAShareIsOfSessions(t *testing.T) {
	const sessions = 40
	cookie := func(i int) []string { return []string{"Cookie", fmt.Sprintf("sid=s%d", i%sessions)} }
	var refused [2]map[string]bool
	for round := range refused {
		refused[round] = map[string]bool{}
		b := newBlocker()
		h := start(t, fmt.Sprintf(oneSlot, "50%"), b.ServeHTTP)
		first := make(chan got, 1)
		go func() { first <- h.get("/first", "Cookie", "sid=holder") }()
		<-b.began
		answered := make([]got, sessions)
		var all sync.WaitGroup
		for i := range sessions {
			all.Go(func() { answered[i] = h.get("/", cookie(i)...) })
		}
		until(t, "every session is decided", func() bool {
			return h.state("all").Tally.Offered == sessions+1
		})
		running := int(h.state("all").Tally.Running)
		for range running {
			b.let <- struct{}{}
		}
		all.Wait()
		<-first
		for i, a := range answered {
			if a.StatusCode == http.StatusServiceUnavailable {
				refused[round][cookie(i)[1]] = true
			}
		}
		h.stop()
	}
	if len(refused[0]) < sessions/4 || len(refused[0]) > 3*sessions/4 {
		t.Errorf("%d of %d sessions were refused at 50 %%", len(refused[0]), sessions)
	}
	for s := range refused[0] {
		if !refused[1][s] {
			t.Errorf("session %s was refused once and served the next time", s)
		}
	}
}
