package strip

import (
	"fmt"
	"time"

	"github.com/spillway-dev/spillway/lab"
	"github.com/spillway-dev/spillway/policy/boundary"
	"github.com/spillway-dev/spillway/policy/chance"
	"github.com/spillway-dev/spillway/policy/ladder"
	"github.com/spillway-dev/spillway/policy/pool"
	"github.com/spillway-dev/spillway/policy/reason"
	"github.com/spillway-dev/spillway/policy/shed"
	"github.com/spillway-dev/spillway/policy/unit"
	"github.com/spillway-dev/spillway/report"
	"github.com/spillway-dev/spillway/sim"
	"github.com/spillway-dev/spillway/workload"
)

// The rungs.
const (
	personalised  = "personalised" // the primary
	sessionCache  = "session_cache"
	secondModel   = "second_model"
	frequencyList = "frequency_list"
	refused       = "refused"
	unanswered    = "unanswered" // by the end
)

// rungs are their names, by number.
var rungs = [...]string{unanswered, personalised, sessionCache, secondModel, frequencyList, refused}

func rungOf(name string) uint8 {
	for i, r := range rungs {
		if r == name {
			return uint8(i)
		}
	}
	return 0
}

// answer is what became of a keystroke.
type answer struct {
	at     unit.Instant
	rung   uint8 // of rungs
	reason reason.Reason
}

// run is one arm's keystrokes and what became of them.
type run struct {
	Setting
	material *material
	typed    []typed
	answers  []answer
	gaps     []shed.Gap // said of each
}

// typedRun is an arm whose keystrokes have no answers yet.
func (m *material) typedRun(s Setting) *run {
	r := &run{Setting: s, material: m, typed: m.typing(&s)}
	r.answers = make([]answer, len(r.typed))
	r.gaps = make([]shed.Gap, len(r.typed))
	return r
}

// until is when whoever has no answer yet is given up.
func (s *Setting) until() time.Duration { return sec(s.ToS+s.AfterS) + time.Second }

// played plays one arm in virtual time.
func (m *material) played(s Setting) (*run, error) {
	r := m.typedRun(s)
	names := workload.NewNames()
	scenario, err := s.scenario(names)
	if err != nil {
		return nil, err
	}
	scenario.Streams = []sim.Stream{{Source: r.source(names), Class: "strip"}}
	scenario.Record = r.record
	scenario.Until = s.until()
	if _, err := sim.Run(*scenario, nil); err != nil {
		return nil, fmt.Errorf("%w: %w", lab.ErrSums, err)
	}
	return r, nil
}

// source has the keystrokes offered, with what the policy says of them.
func (r *run) source(names *workload.Names) workload.Source {
	i, listed := 0, names.Classes.ID("listed")
	return workload.SourceFunc(func(a *workload.Arrival) bool {
		if i == len(r.typed) {
			return false
		}
		t := &r.typed[i]
		*a = workload.Arrival{N: int64(i), At: t.at, Cost: 1, Service: ms(r.held())}
		r.say(a, t, listed)
		r.gaps[i] = shed.Gap(a.Gap)
		i++
		return true
	})
}

// say says of a keystroke what the policy has requests say.
func (r *run) say(a *workload.Arrival, t *typed, listed workload.Name) {
	long := t.stroke.prefix >= 4
	switch r.Policy {
	case "session":
		a.Session, a.Stretch = uint64(t.session)+1, t.stretch()
	case "prefix":
		a.Session, a.Stretch = uint64(t.session)+1, t.stretch()
		if !long {
			a.Gap = int32(shed.Useless / 2)
		}
	case "gap":
		a.Session, a.Stretch, a.Key = uint64(t.session)+1, t.stretch(), t.question()
		a.Gap = int32(t.stroke.gap)
	case "seed_rule":
		slice := int((1 - 1/r.Load) * chance.Whole)
		if over := r.Load > 1 && t.at >= sec(r.UpS); over && (long || chance.Place(saltSlice, uint64(t.session)) < slice) {
			a.Class = listed
		}
	}
}

const saltSlice chance.Salt = 0x73_74_72_69_70 // "strip"

// record takes in what became of a keystroke.
func (r *run) record(x *sim.Record) {
	a := &r.answers[x.Number]
	a.at, a.reason = x.Answered, x.Reason
	switch {
	case x.Class == "listed":
		a.rung = rungOf(frequencyList)
	case x.Rung == ladder.Primary:
		a.rung = rungOf(personalised)
	case x.Rung == ladder.Refusal:
		a.rung = rungOf(refused)
	default:
		a.rung = rungOf(x.Rung)
	}
}

// scenario is the arm as Spillway would be configured.
func (s *Setting) scenario(names *workload.Names) (*sim.Scenario, error) {
	class := boundary.Class{
		Name: "strip", Deadline: ms(s.DeadlineMs),
		Pool: pool.Config{Slots: s.Slots, Latency: ms(s.DeadlineMs), Service: ms(s.ServiceMs)},
	}
	switch s.Policy {
	case "queue":
		class.AdmitHopeless, class.Deadline, class.DeadlineMax = true, time.Hour, time.Hour
		class.Pool.Order, class.Pool.Bound = pool.FIFO, 1<<20
		if s.Depth > 0 {
			class.Pool.Bound = s.Depth
		}
	case "deadline":
		class.AdmitHopeless = true
		class.Pool.Order, class.Pool.Bound = pool.FIFO, 1<<20
	case "seed_rule":
	default:
		class.Shed = &shed.Rule{Span: time.Minute, Seed: s.Seed}
		if s.AtOnce {
			class.Shed.Release = chance.Whole * 1000
		}
	}
	conditions, err := workload.ParseConditions(s.Conditions)
	if err != nil {
		return nil, err
	}
	scenario := &sim.Scenario{
		Seed: s.Seed, Names: names, Report: report.Options{},
		Resources: []sim.Resource{{
			Boundary: boundary.Config{Name: "scorer", Classes: []boundary.Class{class}, Seed: s.Seed, Strict: true},
			Upstream: sim.Upstream{Slots: s.Slots, Conditions: conditions, FailIn: time.Millisecond},
		}},
	}
	if s.Policy == "seed_rule" {
		list := boundary.Class{Name: "listed", Pool: pool.Config{Slots: 1 << 20}, AdmitHopeless: true}
		scenario.Resources = append(scenario.Resources, sim.Resource{
			Boundary: boundary.Config{Name: "list", Classes: []boundary.Class{list}, Seed: s.Seed, Strict: true},
			Upstream: sim.Upstream{Service: instantly},
		})
	}
	return scenario, s.ladder(scenario)
}

// ladder gives the strip's class what it answers below the scorer.
func (s *Setting) ladder(scenario *sim.Scenario) error {
	var order []ladder.Rung
	var from []sim.Rung
	if s.Policy == "gap" {
		order = append(order, ladder.Rung{Name: sessionCache})
		from = append(from, sim.Rung{Earlier: &sim.Earlier{For: time.Minute, BySession: true}})
	}
	if s.Second > 0 {
		half := ms(s.ServiceMs / 2)
		order = append(order, ladder.Rung{Name: secondModel, Needs: half})
		service, err := workload.ParseService(half.String())
		if err != nil {
			return err
		}
		from = append(from, sim.Rung{Class: "second", Service: service})
		scenario.Resources = append(scenario.Resources, sim.Resource{
			Boundary: boundary.Config{Name: "second", Seed: s.Seed, Strict: true, Classes: []boundary.Class{{
				Name: "second", Deadline: ms(s.DeadlineMs), Pool: pool.Config{Slots: s.Second, Latency: half * 2, Service: half},
			}}},
			Upstream: sim.Upstream{Slots: s.Second, Service: service},
		})
	}
	order = append(order, ladder.Rung{Name: frequencyList})
	from = append(from, sim.Rung{})
	l, err := ladder.New(order...)
	if err != nil {
		return err
	}
	scenario.Resources[0].Ladders = []sim.Ladder{{Order: l, Rungs: from}}
	return nil
}

// instantly is how long the list takes where it stands as a resource of its own.
var instantly = func() workload.Service {
	s, err := workload.ParseService("1us")
	if err != nil {
		panic(err)
	}
	return s
}()
