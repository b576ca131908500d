package boundary

import (
	"strings"
	"testing"
	"time"

	"github.com/spillway-dev/spillway/policy/pool"
	"github.com/spillway-dev/spillway/policy/reason"
	"github.com/spillway-dev/spillway/policy/unit"
)

// operated is a machine of two classes with a slot each, and what is offered to it.
type operated struct {
	*testing.T
	*Machine
	out Effects
}

func newOperated(t *testing.T, mode Mode) *operated {
	m, err := New(Config{Name: "app", Seed: 1, Strict: true, Classes: []Class{
		{Name: "search", Mode: mode, Pool: pool.Config{Slots: 1, Bound: 4}, RetryAfterMax: 20 * time.Second},
		{Name: "checkout", Pool: pool.Config{Slots: 1, Bound: 4}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	return &operated{T: t, Machine: m}
}

func (m *operated) at(d time.Duration, class int, want string) Verdict {
	m.Helper()
	v := m.Offer(unit.Instant(d), &Request{Class: class}, &m.out)
	if got := v.Kind.String() + " " + v.Reason.String(); !strings.HasPrefix(got, want) {
		m.Errorf("at %v: %s, want %s", d, got, want)
	}
	if err := m.Check(); err != nil {
		m.Fatal(err)
	}
	return v
}

// What is offered meanwhile is refused, what waits and runs goes on, and at the
// instant that was said all is as before, by itself.
func TestAClassIsSwitchedByHandAndBackByItself(t *testing.T) {
	m := newOperated(t, Mode{})
	first := m.at(0, 0, "run")
	m.at(0, 0, "wait")
	m.Operate(unit.Instant(time.Second), 0, Operation{Degrade, unit.Instant(6 * time.Second)}, &m.out)
	if s := m.Class(0); s.Operator != Degrade || s.OperatorLeft != 5*time.Second || s.Waiting != 1 || s.Tally.Running != 1 {
		t.Errorf("%+v", s)
	}
	var last time.Duration
	for i := range 4 { // each is told to come after the end, and none with another
		v := m.at(2*time.Second, 0, "refuse operator")
		if v.RetryAfter < 4*time.Second || v.RetryAfter > 20*time.Second || v.RetryAfter == last {
			t.Errorf("refusal %d: come back in %v; the end is in 4s", i, v.RetryAfter)
		}
		last = v.RetryAfter
	}
	m.at(2*time.Second, 1, "run") // of another class
	m.Done(unit.Instant(3*time.Second), first.Ticket, Outcome{Reason: reason.Served}, &m.out)
	if s := m.Class(0); s.Waiting != 0 || s.Tally.Running != 1 {
		t.Errorf("who waited was not started: %+v", s)
	}
	m.at(6*time.Second-1, 0, "refuse operator")
	m.at(6*time.Second, 0, "wait")
	if s := m.Class(0); s.Operator != AsConfigured || s.OperatorLeft != 0 || s.Tally.Answered[reason.Operator] != 5 {
		t.Errorf("after the end: %+v", s)
	}
}

func TestAnOperationEndsWhenItIsToldToAndNeverLaterThanADay(t *testing.T) {
	m := newOperated(t, Mode{})
	m.Operate(0, 0, Operation{RefuseAll, unit.Never}, &m.out)
	if s := m.Class(0); s.OperatorLeft != OperatorMax {
		t.Errorf("for ever became %v", s.OperatorLeft)
	}
	if v := m.at(0, 0, "refuse operator"); v.RetryAfter > 20*time.Second {
		t.Errorf("come back in %v; the longest hint of the class is 20s", v.RetryAfter)
	}
	m.Operate(1, 0, Operation{}, &m.out)
	v := m.at(1, 0, "run")
	m.Operate(2, 0, Operation{RefuseAll, 1}, &m.out) // over before it began
	m.at(2, 0, "wait")
	m.Done(2, v.Ticket, Outcome{Reason: reason.Served}, &m.out)
}

func TestAnOperationSurvivesAReconfiguration(t *testing.T) {
	m := newOperated(t, Mode{})
	m.Operate(0, 0, Operation{RefuseAll, 10}, &m.out)
	cfg := Config{Name: "app", Strict: true, Classes: []Class{{Name: "search", Pool: pool.Config{Slots: 3}}}}
	if err := m.Reconfigure(1, cfg, &m.out); err != nil {
		t.Fatal(err)
	}
	m.at(1, 0, "refuse operator")
	m.at(10, 0, "run")
}

// Whose decisions are not carried out is switched by hand all the same: an
// operator who says no means it.
func TestAnOperationIsCarriedOutInEveryMode(t *testing.T) {
	for _, mode := range []Mode{{Kind: Shadow}, {Kind: Off}, {Kind: Part, Share: 0}} {
		m := newOperated(t, mode)
		m.at(0, 0, "run")
		m.at(0, 0, "run") // with the only slot taken: it is in shadow
		m.Operate(0, 0, Operation{RefuseAll, 10}, &m.out)
		m.at(0, 0, "refuse operator")
		m.at(10, 0, "run")
	}
}

func TestTheModesHaveNames(t *testing.T) {
	for _, o := range []OperatorMode{AsConfigured, Degrade, RefuseAll} {
		if got, err := ParseOperatorMode(o.String()); err != nil || got != o {
			t.Errorf("%v: %v, %v", o, got, err)
		}
	}
	if _, err := ParseOperatorMode("stop"); err == nil || strings.Contains(err.Error(), "\n") {
		t.Errorf("stop: %v", err)
	}
}
