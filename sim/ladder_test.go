package sim_test

import (
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/spillway-dev/spillway/policy/boundary"
	"github.com/spillway-dev/spillway/policy/ladder"
	"github.com/spillway-dev/spillway/policy/pool"
	"github.com/spillway-dev/spillway/report"
	"github.com/spillway-dev/spillway/sim"
	"github.com/spillway-dev/spillway/workload"
)

// steps is a ladder of these rungs, named as a file names them.
func steps(rungs ...sim.Rung) sim.Ladder {
	var order []ladder.Rung
	for _, r := range rungs {
		switch {
		case r.Earlier != nil:
			order = append(order, ladder.Rung{Name: ladder.Cache})
		case r.Class != "":
			order = append(order, ladder.Rung{Name: "cheap", Needs: 8 * ms})
		default:
			order = append(order, ladder.Rung{Name: ladder.Static})
		}
	}
	return sim.Ladder{Order: must(ladder.New(order...)), Rungs: rungs}
}

// lists is a class of one slot in which nobody waits, with something to give.
func lists() boundary.Class {
	return boundary.Class{Name: "lists", Pool: pool.Config{Slots: 1, Latency: ms, Service: ms}, Deadline: 100 * ms, Reserve: 2 * ms}
}

// asked are requests that arrive at these instants, with what else is said of each.
func asked(instants ...time.Duration) []workload.Arrival {
	var all []workload.Arrival
	for _, t := range instants {
		all = append(all, workload.Arrival{At: t, Service: 10 * ms, Cost: 1})
	}
	return all
}

// offer plays these requests to a class with that ladder.
func offer(t *testing.T, l sim.Ladder, arrivals []workload.Arrival, change func(*sim.Scenario)) (*sim.Result, []sim.Record) {
	t.Helper()
	var all []sim.Record
	s := sim.Scenario{
		Seed: 1, Names: workload.NewNames(), Check: true,
		Resources: []sim.Resource{{Boundary: strict(lists()), Ladders: []sim.Ladder{l}}},
		Streams:   []sim.Stream{{Source: workload.Slice(arrivals), Callers: sim.Callers{Retries: 3}}},
		Record:    func(r *sim.Record) { all = append(all, *r) },
	}
	if change != nil {
		change(&s)
	}
	return play(t, s), all
}

// answers is one line a request: which rung, why, and how late.
func answers(all []sim.Record) (lines []string) {
	for _, r := range all {
		lines = append(lines, r.Rung+" "+r.Reason.String()+" "+r.Answered.Sub(r.Arrived).String())
	}
	return lines
}

func same(t *testing.T, got []string, want ...string) {
	t.Helper()
	for i := range max(len(got), len(want)) {
		g, w := "nothing", "nothing"
		if i < len(got) {
			g = got[i]
		}
		if i < len(want) {
			w = want[i]
		}
		if g != w {
			t.Errorf("answer %d: %s, want %s", i+1, g, w)
		}
	}
}

// Who finds the slot taken has a cheaper answer at once, and is content with it: no
// retry, although the callers have three. Goodput is of primary answers alone.
func TestWhoIsNotServedIsGivenACheaperAnswer(t *testing.T) {
	result, all := offer(t, steps(sim.Rung{}), asked(0, 5*ms, 20*ms), nil)
	same(t, answers(all), "static queue_full 0s", "primary served 10ms", "primary served 10ms")
	r := result.Report.Classes["lists"]
	if !maps.Equal(r.Answered, report.Counts{"primary": 2, "static": 1}) || !maps.Equal(r.Reasons, report.Counts{"served": 2, "queue_full": 1}) || len(r.Refused) != 0 {
		t.Errorf("answered %v, reasons %v, refused %v", r.Answered, r.Reasons, r.Refused)
	}
	if c := result.Callers[0]; c.Attempts != 3 || c.Answered != 2 || c.Cheaper != 1 || c.GaveUp != 0 {
		t.Errorf("callers %+v", c)
	}
}

// A call that fails or takes too long steps down with its own reason, inside the
// deadline: what is kept back of it is there for that. An answer inside the deadline
// that came after the reserve began is none: the caller had its cheaper one.
func TestWhoIsServedTooLateIsAnsweredInTime(t *testing.T) {
	slow := asked(0)
	slow[0].Service = 99 * ms // of 100
	result, all := offer(t, steps(sim.Rung{}), slow, nil)
	same(t, answers(all), "static timeout 98ms")
	if r := result.Report; r.Answered["static"] != 1 || r.Answered["primary"] != 0 {
		t.Errorf("answered %v", r.Answered)
	}
	_, all = offer(t, steps(sim.Rung{}), asked(0), func(s *sim.Scenario) {
		s.Resources[0].Calls = []sim.Call{{Timeout: 4 * ms}}
	})
	same(t, answers(all), "static timeout 4ms")
	_, all = offer(t, steps(sim.Rung{}), asked(0), func(s *sim.Scenario) {
		s.Resources[0].Upstream.Conditions, s.Resources[0].Upstream.FailIn = must(workload.ParseConditions("outage@0s+1s")), ms
	})
	same(t, answers(all), "static failed 1ms")
}

// A caller who has gone is given nothing, and a request that is not governed (its
// class is in shadow) is the primary's alone.
func TestWhoIsGivenNoCheaperAnswer(t *testing.T) {
	_, all := offer(t, steps(sim.Rung{}), asked(0), func(s *sim.Scenario) { s.Streams[0].Callers = sim.Callers{Patience: 4 * ms} })
	same(t, answers(all), "refusal caller_gone 4ms")
	_, all = offer(t, steps(sim.Rung{}), asked(0, 5*ms), func(s *sim.Scenario) {
		s.Resources[0].Boundary.Classes[0].Mode.Kind = boundary.Shadow
	})
	same(t, answers(all), "primary served 10ms", "primary served 10ms")
}

// An earlier answer is given to the same question of the same tenant, as long as it
// is young enough; where that is part of the question, of the same session.
func TestEarlierAnswersAreGivenToTheSameQuestion(t *testing.T) {
	for _, c := range []struct {
		name   string
		rung   sim.Earlier
		change func(second *workload.Arrival)
		want   string
	}{
		{"the same question", sim.Earlier{For: time.Second}, func(*workload.Arrival) {}, "cache queue_full 0s"},
		{"another", sim.Earlier{For: time.Second}, func(a *workload.Arrival) { a.Key = 8 }, "refusal queue_full 0s"},
		{"none that is known", sim.Earlier{For: time.Second}, func(a *workload.Arrival) { a.Key = 0 }, "refusal queue_full 0s"},
		{"none that is known, where so many hit", sim.Earlier{For: time.Second, Share: 1}, func(a *workload.Arrival) { a.Key = 0 }, "cache queue_full 0s"},
		{"another tenant's", sim.Earlier{For: time.Second}, func(a *workload.Arrival) { a.Tenant++ }, "refusal queue_full 0s"},
		{"another session's", sim.Earlier{For: time.Second}, func(a *workload.Arrival) { a.Session++ }, "cache queue_full 0s"},
		{"another session's, which is part of it", sim.Earlier{For: time.Second, BySession: true}, func(a *workload.Arrival) { a.Session++ }, "refusal queue_full 0s"},
		{"one that is just young enough", sim.Earlier{For: 25 * ms}, func(*workload.Arrival) {}, "cache queue_full 0s"},
		{"one that is too old", sim.Earlier{For: 24 * ms}, func(*workload.Arrival) {}, "refusal queue_full 0s"},
	} {
		names := workload.NewNames()
		requests := asked(0, 20*ms, 25*ms) // learnt, in the way, asked again
		for i := range requests {
			requests[i].Key, requests[i].Session, requests[i].Tenant = 7, 3, names.Tenants.ID("acme")
		}
		requests[1].Key = 9
		names.Tenants.ID("beta")
		c.change(&requests[2])
		_, all := offer(t, steps(sim.Rung{Earlier: &c.rung}), requests, func(s *sim.Scenario) {
			s.Names, s.Streams[0].Callers = names, sim.Callers{}
		})
		if got := answers(all)[1]; got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

// beside adds another resource, with two slots of 8 ms and a class that rungs ask.
func beside(s *sim.Scenario) {
	s.Resources = append(s.Resources, sim.Resource{
		Boundary: boundary.Config{Name: "cheap", Strict: true, Classes: []boundary.Class{{
			Name: "lists/cheap", Pool: pool.Config{Slots: 2, Latency: ms, Service: ms}, Deadline: 100 * ms,
		}}},
		Upstream: sim.Upstream{Slots: 2, Service: service("8ms")},
	})
}

// A rung that is a service is asked for as many as it has slots, and those beyond go
// on to the next. It is asked under what is left of the deadline, and not at all
// where its answer could not be there in time. The account stays that of the class.
func TestARungThatIsAServiceIsNeverOfferedMoreThanItCanDo(t *testing.T) {
	both := steps(sim.Rung{Class: "lists/cheap"}, sim.Rung{})
	result, all := offer(t, both, asked(0, ms, 2*ms, 3*ms, 4*ms, 9*ms), beside)
	same(t, answers(all), "static queue_full 0s", "static queue_full 0s", "cheap queue_full 8ms", "primary served 10ms", "cheap queue_full 8ms", "cheap queue_full 8ms")
	if r := result.Report; r.Offered != 6 || r.Answered["cheap"] != 3 || r.Answered["static"] != 2 || len(r.Classes) != 1 || float64(r.CallsPerRequest) != 1.0/6 {
		t.Errorf("%d offered, answered %v, %d classes, %v calls a request", r.Offered, r.Answered, len(r.Classes), r.CallsPerRequest)
	}
	if c := result.Resources[1].Classes[0]; c.Tally.Offered != 5 || result.Resources[1].LineMost != 0 {
		t.Errorf("cheap was offered %d, %d stood in its line", c.Tally.Offered, result.Resources[1].LineMost)
	}

	slow := asked(0)
	slow[0].Service = 80 * ms
	for timeout, want := range map[time.Duration]string{
		0: "static timeout 98ms", 95 * ms: "primary served 80ms", 60 * ms: "cheap timeout 68ms", 79 * ms: "cheap timeout 87ms",
	} {
		_, all := offer(t, both, slow, func(s *sim.Scenario) {
			beside(s)
			s.Resources[0].Calls = []sim.Call{{Timeout: timeout}}
			if timeout == 0 {
				s.Streams[0].Source = workload.Slice([]workload.Arrival{{Service: 99 * ms, Cost: 1}})
			}
		})
		same(t, answers(all), want)
	}
}

// What a rung does not answer in time, fails, or its caller does not wait for, is the
// next rung's, or nobody's; work that goes on there keeps its slot there.
func TestARungThatIsAServiceMayNotAnswerEither(t *testing.T) {
	both := steps(sim.Rung{Class: "lists/cheap"}, sim.Rung{})
	sick := func(conditions string, failIn time.Duration) func(*sim.Scenario) {
		return func(s *sim.Scenario) {
			beside(s)
			s.Resources[1].Upstream.Conditions, s.Resources[1].Upstream.FailIn = must(workload.ParseConditions(conditions)), failIn
		}
	}
	_, all := offer(t, both, asked(0, ms), sick("outage@0s+1s", ms))
	same(t, answers(all), "static queue_full 1ms", "primary served 10ms")
	// It stands still: both its slots are held by abandoned work, and it is full.
	result, all := offer(t, both, asked(0, ms, 2*ms, 200*ms, 201*ms), sick("outage@0s+1s", 0))
	same(t, answers(all), "primary served 10ms", "static queue_full 98ms", "static queue_full 98ms", "static queue_full 0s", "primary served 10ms")
	if c := result.Resources[1].Classes[0]; c.Tally.Running != 0 || result.Resources[1].Wasted == 0 {
		t.Errorf("%+v, %v wasted", c.Tally, result.Resources[1].Wasted)
	}
	_, all = offer(t, both, asked(0, ms), func(s *sim.Scenario) {
		beside(s)
		s.Streams[0].Callers = sim.Callers{Patience: 4 * ms}
	})
	same(t, answers(all), "refusal caller_gone 4ms", "refusal caller_gone 4ms")
}

func TestWhatIsNoLadderOfAScenario(t *testing.T) {
	for want, change := range map[string]func(*sim.Scenario){
		"an order of 1 rungs for 0":                  func(s *sim.Scenario) { s.Resources[0].Ladders[0].Rungs = nil },
		`asks class "nobody", which no resource has`: func(s *sim.Scenario) { s.Resources[0].Ladders[0].Rungs[0].Class = "nobody" },
		`asks class "lists" of the same resource`:    func(s *sim.Scenario) { s.Resources[0].Ladders[0].Rungs[0].Class = "lists" },
		"more than 0s, and 0 to 1":                   func(s *sim.Scenario) { s.Resources[0].Ladders[0].Rungs[0].Earlier = &sim.Earlier{Share: 2} },
		"make them rungs of their own": func(s *sim.Scenario) {
			s.Resources[0].Ladders[0].Rungs[0] = sim.Rung{Earlier: &sim.Earlier{}, Class: "lists"}
		},
		"2 ladders for 1 classes": func(s *sim.Scenario) { s.Resources[0].Ladders = make([]sim.Ladder, 2) },
		"which is a rung's: nothing else may be of it": func(s *sim.Scenario) {
			beside(s)
			s.Resources[0].Ladders[0].Rungs[0].Class = "lists/cheap"
			s.Streams[0].Class = "lists/cheap"
		},
	} {
		s := sim.Scenario{
			Names:     workload.NewNames(),
			Resources: []sim.Resource{{Boundary: strict(lists()), Ladders: []sim.Ladder{steps(sim.Rung{})}}},
			Streams:   []sim.Stream{{Source: workload.Slice(nil)}},
		}
		change(&s)
		if err := s.Validate(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want one with %q", err, want)
		}
	}
}
