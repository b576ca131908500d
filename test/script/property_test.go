package script_test

import (
	"testing"
	"time"

	"github.com/spillway-dev/spillway/policy/boundary"
	"github.com/spillway-dev/spillway/policy/chance"
	"github.com/spillway-dev/spillway/policy/fair"
	"github.com/spillway-dev/spillway/policy/pool"
	"pgregory.net/rapid"
)

// drawScript draws a crowded little world in which no two events share an
// instant: request k arrives k ns past a millisecond and works k µs longer than
// a whole number of them, and patience ends between two µs.
func drawScript(t *rapid.T) *script {
	millis := func(low, high int, name string) time.Duration {
		return time.Duration(rapid.IntRange(low, high).Draw(t, name)) * time.Millisecond
	}
	s := &script{notices: rapid.Bool().Draw(t, "notices")}
	s.config = boundary.Config{Name: "app", Seed: 1, Strict: true}
	for _, name := range []string{"x", "y"} {
		s.config.Classes = append(s.config.Classes, boundary.Class{
			Name: name, Deadline: millis(5, 40, "deadline"), HoldAtMost: millis(3, 20, "hold at most"),
			AdmitHopeless: rapid.Bool().Draw(t, "admit hopeless"),
			Pool: pool.Config{
				Slots: rapid.IntRange(1, 3).Draw(t, "slots"), Borrow: rapid.IntRange(0, 1).Draw(t, "borrow"),
				Latency: millis(10, 40, "latency"), Service: millis(1, 10, "service"), Bound: rapid.IntRange(0, 4).Draw(t, "bound"),
				MemoryLimit: 10, Order: pool.Order(rapid.IntRange(0, 2).Draw(t, "order")),
				WhenFull: pool.WhenFull(rapid.IntRange(0, 4).Draw(t, "when full")), BlockFor: millis(1, 8, "block for"), Levels: 3,
				Tenants: pool.TenantConfig{Policy: fair.Policy(rapid.IntRange(0, 4).Draw(t, "policy")), Queue: rapid.IntRange(0, 3).Draw(t, "queue")},
			},
		})
		if rapid.Bool().Draw(t, "not all in earnest") {
			s.config.Classes[len(s.config.Classes)-1].Mode = boundary.Mode{
				Kind: boundary.ModeKind(rapid.IntRange(1, 3).Draw(t, "mode")), Share: rapid.IntRange(0, 1_000_000).Draw(t, "share"),
			}
		}
		s.config.Classes[len(s.config.Classes)-1].Call.Cancel = s.notices
		c := call{startDeadline: rapid.IntRange(0, 3).Draw(t, "start deadline") == 0}
		if rapid.Bool().Draw(t, "times out") {
			c.timeout = millis(2, 15, "timeout") + 300*time.Nanosecond
			s.config.Classes[len(s.config.Classes)-1].Call.Timeout = c.timeout
		}
		s.calls = append(s.calls, c)
	}
	at := time.Duration(0)
	for k := range time.Duration(rapid.IntRange(1, 40).Draw(t, "requests")) {
		at += millis(0, 4, "gap")
		r := request{
			class: rapid.IntRange(0, 1).Draw(t, "class"), tenant: rapid.SampledFrom([]string{"", "a", "b"}).Draw(t, "tenant"),
			at: at + k, takes: millis(1, 12, "takes") + (k+1)*time.Microsecond,
			importance: rapid.IntRange(0, 2).Draw(t, "importance"), cost: int64(rapid.IntRange(1, 4).Draw(t, "cost")), bytes: int64(rapid.IntRange(0, 5).Draw(t, "bytes")),
		}
		r.session = rapid.Uint64Range(0, 6).Draw(t, "session")
		if rapid.Bool().Draw(t, "names a deadline") {
			r.deadline = millis(1, 30, "deadline")
		}
		if rapid.Bool().Draw(t, "is impatient") {
			r.leaves = millis(1, 20, "leaves") + 700*time.Microsecond + 500*time.Nanosecond
		}
		s.requests = append(s.requests, r)
	}
	return s
}

// A share of all sessions is enforce, and one of none is shadow: not only are the
// figures the same but every event and all that comes of it.
func TestTheWholeShareIsEnforceAndNoneIsShadow(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		s := drawScript(rt)
		as := func(m boundary.Mode) []string {
			for i := range s.config.Classes {
				s.config.Classes[i].Mode = m
			}
			return runVirtual(t, s)
		}
		compare(rt, "100 %", as(boundary.Mode{Kind: boundary.Part, Share: chance.Whole}), "enforce", as(boundary.Mode{}))
		compare(rt, "0 %", as(boundary.Mode{Kind: boundary.Part}), "shadow", as(boundary.Mode{Kind: boundary.Shadow}))
	})
}

// Whatever is asked of them in whatever order, both drivers do the same.
func TestAnyScriptRunsTheSameLiveAndVirtual(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		s := drawScript(rt)
		compare(rt, "live", runLive(t, s), "virtual", runVirtual(t, s))
	})
}
