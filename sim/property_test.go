package sim_test

import (
	"testing"
	"time"

	"github.com/spillway-dev/spillway/policy/boundary"
	"github.com/spillway-dev/spillway/policy/fair"
	"github.com/spillway-dev/spillway/policy/ladder"
	"github.com/spillway-dev/spillway/policy/pool"
	"github.com/spillway-dev/spillway/policy/reason"
	"github.com/spillway-dev/spillway/sim"
	"github.com/spillway-dev/spillway/workload"
	"pgregory.net/rapid"
)

func millis(t *rapid.T, low, high int, name string) time.Duration {
	return time.Duration(rapid.IntRange(low, high).Draw(t, name)) * time.Millisecond
}

func drawClass(t *rapid.T, name string) boundary.Class {
	return boundary.Class{
		Name: name,
		Pool: pool.Config{
			Slots: rapid.IntRange(1, 4).Draw(t, "slots"), Borrow: rapid.IntRange(0, 2).Draw(t, "borrow"),
			Latency: millis(t, 0, 40, "latency"), Service: millis(t, 0, 10, "service"), Bound: rapid.IntRange(0, 4).Draw(t, "bound"),
			MemoryLimit: int64(rapid.IntRange(0, 10).Draw(t, "memory")), PerRequest: 1,
			Order:    pool.Order(rapid.IntRange(0, 2).Draw(t, "order")),
			MaxAge:   millis(t, 12, 40, "max age"),
			WhenFull: pool.WhenFull(rapid.IntRange(0, 4).Draw(t, "when full")),
			BlockFor: millis(t, 1, 10, "block for"), Levels: rapid.IntRange(1, 3).Draw(t, "levels"),
			Tenants: pool.TenantConfig{
				Policy:  fair.Policy(rapid.IntRange(0, 4).Draw(t, "policy")),
				Weights: map[string]int{"a": 2}, Queue: rapid.IntRange(0, 3).Draw(t, "queue"),
			},
		},
		Deadline: millis(t, 1, 50, "deadline"), AdmitHopeless: rapid.Bool().Draw(t, "admit hopeless"),
		HoldAtMost: millis(t, 1, 30, "hold at most"),
	}
}

// drawLadders gives class x rungs, one of which is another resource, and y another.
func drawLadders(t *rapid.T, s *sim.Scenario) {
	z := drawClass(t, "z")
	s.Resources = append(s.Resources, sim.Resource{
		Boundary: boundary.Config{Name: "beside", Classes: []boundary.Class{z}, Strict: true, Seed: 1},
		Upstream: sim.Upstream{
			Slots: rapid.IntRange(0, 3).Draw(t, "beside"), Service: must(workload.ParseService("3ms")),
			NoticesCancel: rapid.Bool().Draw(t, "beside notices"),
		},
	})
	order := must(ladder.New(ladder.Rung{Name: ladder.Cache}, ladder.Rung{Name: "beside", Needs: millis(t, 1, 5, "needs")}, ladder.Rung{Name: ladder.Static}))
	rungs := []sim.Rung{{Earlier: &sim.Earlier{For: 20 * time.Millisecond, Share: 0.2}}, {Class: "z"}, {}}
	if rapid.Bool().Draw(t, "no static") {
		order, rungs = must(ladder.New(ladder.Rung{Name: ladder.Cache}, ladder.Rung{Name: "beside", Needs: 1})), rungs[:2]
	}
	s.Resources[0].Ladders = []sim.Ladder{{Order: order, Rungs: rungs}}
	s.Resources[0].Boundary.Classes[0].Reserve = millis(t, 0, 3, "reserve")
}

// drawScenario draws a small world in which whole milliseconds make ties
// common. Whatever is drawn, nothing may panic and every account must close.
func drawScenario(t *rapid.T) sim.Scenario {
	names := workload.NewNames()
	classes := []boundary.Class{drawClass(t, "x"), drawClass(t, "y")}
	source := func(name string) workload.Source {
		var arrivals []workload.Arrival
		at := time.Duration(0)
		for range rapid.IntRange(0, 60).Draw(t, name) {
			at += millis(t, 0, 4, "gap")
			arrivals = append(arrivals, workload.Arrival{
				At: at, Service: millis(t, 1, 12, "service"), Deadline: millis(t, 0, 30, "deadline"),
				Cost: int64(rapid.IntRange(1, 5).Draw(t, "cost")), Bytes: int64(rapid.IntRange(0, 4).Draw(t, "bytes")),
				Key: uint64(rapid.IntRange(0, 3).Draw(t, "key")), Importance: int32(rapid.IntRange(0, 3).Draw(t, "importance")),
				Tenant: names.Tenants.ID(rapid.SampledFrom([]string{"", "a", "b", "c"}).Draw(t, "tenant")),
			})
		}
		return workload.Slice(arrivals)
	}
	callers := func() sim.Callers {
		return sim.Callers{
			Patience: millis(t, 0, 20, "patience"), Retries: rapid.IntRange(0, 2).Draw(t, "retries"),
			Backoff:          sim.Backoff{Base: millis(t, 0, 3, "base"), Exponential: true, FullJitter: rapid.Bool().Draw(t, "jitter")},
			HonourRetryAfter: rapid.Bool().Draw(t, "honour"), Within: millis(t, 0, 60, "within"),
			Budget: rapid.SampledFrom([]sim.Budget{{}, {Share: 0.1, Burst: 2}}).Draw(t, "budget"),
		}
	}
	conditions := rapid.SampledFrom([]string{"", "x3@5ms+20ms", "outage@10ms+15ms", "outage@3ms+4ms,x2@20ms+90ms"}).Draw(t, "conditions")
	s := sim.Scenario{
		Seed: 1, Names: names, Check: true,
		Unprotected: rapid.IntRange(0, 4).Draw(t, "unprotected") == 0,
		WarmUp:      millis(t, 0, 10, "warm-up"), Overhead: millis(t, 0, 2, "overhead"),
		Resources: []sim.Resource{{
			Boundary: strict(classes...),
			Upstream: sim.Upstream{
				Slots: rapid.IntRange(0, 6).Draw(t, "servers"), Conditions: must(workload.ParseConditions(conditions)),
				FailIn: millis(t, 0, 2, "fail in"), NoticesCancel: rapid.Bool().Draw(t, "notices"), KeepsDeadline: rapid.Bool().Draw(t, "keeps"),
			},
			Calls: []sim.Call{{
				Timeout: millis(t, 0, 15, "timeout"), PassDeadline: rapid.Bool().Draw(t, "pass"), StartDeadline: rapid.Bool().Draw(t, "start deadline"),
			}},
		}},
		Streams: []sim.Stream{
			{Source: source("to x"), Class: "x", Callers: callers()},
			{Source: source("to y"), Class: "y", Callers: callers()},
		},
	}
	if rapid.Bool().Draw(t, "ladder") {
		drawLadders(t, &s)
	}
	if rapid.Bool().Draw(t, "change") {
		s.Changes = []sim.Change{{At: millis(t, 0, 40, "at"), Boundary: strict(drawClass(t, "x"), drawClass(t, "y"))}}
	}
	if rapid.IntRange(0, 3).Draw(t, "cut") == 0 {
		s.For, s.WarmUp = 30*time.Millisecond, 0
		s.Until = millis(t, 1, 60, "until")
	}
	return s
}

// Machines are strict and checked after every event, and the report checks its
// own sums; besides, whoever offered is answered exactly once.
func TestAccountsCloseWhateverHappens(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawScenario(t)
		type key struct {
			stream, attempt int
			number          int64
		}
		answered := map[key]bool{}
		var served int64
		s.Record = func(r *sim.Record) {
			k := key{r.Stream, r.Attempt, r.Number}
			if answered[k] {
				t.Fatalf("attempt %+v was answered twice", k)
			}
			answered[k] = true
			if r.Answered < r.Arrived || r.HasStarted && (r.Started < r.Arrived || r.Started > r.Answered) {
				t.Fatalf("times run backwards: %+v", *r)
			}
			if r.Counted && r.Reason == reason.Served {
				served++
			}
		}
		result, err := sim.Run(s, nil)
		if err != nil {
			t.Fatal(err)
		}
		rep := result.Report
		if s.Until == 0 && rep.Waiting+rep.Running != 0 {
			t.Fatalf("%d waiting and %d running when everybody had an answer", rep.Waiting, rep.Running)
		}
		if s.Until == 0 && s.WarmUp == 0 && rep.Offered != int64(len(answered)) {
			t.Fatalf("%d were offered and %d answered", rep.Offered, len(answered))
		}
		if rep.Reasons["served"] != served || rep.Answered["primary"] != served || s.Unprotected && len(rep.Answered) > 1 {
			t.Fatalf("%d records are served; the report has %v, %v", served, rep.Reasons, rep.Answered)
		}
		for i, c := range result.Callers {
			if s.Until == 0 && c.Callers != c.Answered+c.Cheaper+c.GaveUp {
				t.Fatalf("stream %d: %+v do not add up", i, c)
			}
		}
		if s.WarmUp == 0 && !s.Unprotected && s.Until == 0 {
			var offered, total int64
			for _, cl := range result.Resources[0].Classes {
				offered += cl.Tally.Offered
				total += cl.Tally.Total()
				for why, n := range cl.Tally.Answered {
					// Who leaves while another resource is asked was counted by the first.
					if name := reason.Reason(why).String(); len(s.Resources) == 1 && rep.Classes[cl.Name].Reasons[name] != n {
						t.Fatalf("%s: the machine answered %d with %s, the report %d", cl.Name, n, name, rep.Classes[cl.Name].Reasons[name])
					}
				}
			}
			if offered != rep.Offered || total != rep.Offered {
				t.Fatalf("the machine was offered %d and answered %d, the report has %d", offered, total, rep.Offered)
			}
		}
	})
}
