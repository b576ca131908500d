package quota

import (
	"errors"
	"testing"
	"time"

	"github.com/spillway-dev/spillway/policy/reason"
	"github.com/spillway-dev/spillway/policy/unit"
	"pgregory.net/rapid"
)

// events are all that can be said of a reservation.
var events = []struct {
	name string
	do   func(r *Reservation, attempt int64, now Time, b []Budget) error
}{
	{"start", func(r *Reservation, attempt int64, _ Time, _ []Budget) error { return r.Start(attempt) }},
	{"lose", func(r *Reservation, attempt int64, _ Time, _ []Budget) error { return r.Lose(attempt) }},
	{"orphan", func(r *Reservation, attempt int64, now Time, b []Budget) error {
		return r.Orphan(attempt, now, b)
	}},
	{"release", func(r *Reservation, attempt int64, now Time, b []Budget) error {
		return r.Release(attempt, now, b)
	}},
	{"settle", func(r *Reservation, attempt int64, now Time, b []Budget) error {
		return r.Settle(attempt, now, b, r.Taken)
	}},
	{"resolve", func(r *Reservation, attempt int64, now Time, b []Budget) error {
		return r.ResolveNotStarted(attempt, now, b)
	}},
}

// What each event makes of each state, whether the slot is free then, and whether
// the credits came back. "" is an error that changes nothing.
func TestWhatIsKnownOfACall(t *testing.T) {
	table := map[State]map[string]string{
		Reserved: {"start": "started held", "lose": "", "orphan": "released free back", "release": "released free back", "settle": "", "resolve": ""},
		Started:  {"start": "", "lose": "unknown held", "orphan": "unknown held", "release": "", "settle": "settled free", "resolve": ""},
		Unknown:  {"start": "", "lose": "unknown held", "orphan": "unknown held", "release": "", "settle": "settled free", "resolve": "released free back"},
		Settled:  {"start": "", "lose": "", "orphan": "", "release": "", "settle": "", "resolve": ""},
		Released: {"start": "", "lose": "", "orphan": "", "release": "", "settle": "", "resolve": ""},
	}
	for state, row := range table {
		for _, e := range events {
			ask := Amounts{Concurrent: 1, Tokens: 60}
			budgets := []Budget{slots(1), bucket(Tokens, 100, 1, time.Hour)}
			r := Reservation{State: state, Attempt: 3, Taken: ask}
			if !state.Final() {
				Decide(Time{}, budgets, ask)
			}
			before, was := [2]Budget(budgets), r
			err := e.do(&r, 3, at(1), budgets)
			got := ""
			if err == nil {
				got = r.State.String() + map[bool]string{true: " free", false: " held"}[budgets[0].Held == 0]
				if budgets[1].Left == 100 {
					got += " back"
				}
			} else if r != was || before != [2]Budget(budgets) {
				t.Errorf("%s of %v: %v, and it has changed something", e.name, state, err)
			}
			if got != row[e.name] {
				t.Errorf("%s of %v: %q (%v), want %q", e.name, state, got, err, row[e.name])
			}
		}
	}
}

func TestALateWriterChangesNothing(t *testing.T) {
	for _, e := range events {
		b := []Budget{slots(2)}
		r := Reservation{State: Started, Attempt: 2, Taken: Amounts{Concurrent: 1}}
		Decide(Time{}, b, r.Taken)
		was := r
		if err := e.do(&r, 1, Time{}, b); !errors.Is(err, ErrStale) || r != was || b[0].Held != 1 {
			t.Errorf("%s of an earlier attempt: %v, %+v", e.name, err, r)
		}
	}
}

func TestWhatIsNotUsedIsGivenBackOnlyWhereTheLimitSaysSo(t *testing.T) {
	for _, c := range []struct {
		name        string
		refund      bool
		taken, used int64
		left        int64
	}{
		{"less, kept", false, 60, 20, 40},
		{"less, refunded", true, 60, 20, 80},
		{"nothing, refunded", true, 60, 0, 100},
		{"more is charged", false, 60, 90, 10},
		{"also beyond the limit", true, 60, 180, -80},
		{"whatever a provider says", false, 60, -5, 40},
		{"whatever a provider says", false, 60, 1<<63 - 1, 100 - MostMax},
	} {
		b := []Budget{NewBudget(Limit{Unit: Tokens, Most: 100, Refill: 1, Every: time.Hour, Refund: c.refund}, Time{})}
		r := Reservation{State: Started, Taken: Amounts{Tokens: c.taken}}
		Decide(Time{}, b, r.Taken)
		if err := r.Settle(0, Time{}, b, Amounts{Tokens: c.used}); err != nil || b[0].Left != c.left || b[0].Held != 0 {
			t.Errorf("%s: taken %d, used %d: %v, %+v, want %d left", c.name, c.taken, c.used, err, b[0], c.left)
		}
	}
}

// However often a provider claims that much was used, no sum overflows.
func TestDebtsAreBounded(t *testing.T) {
	b := []Budget{bucket(Tokens, 100, 1, time.Hour)}
	for range 3000 {
		r := Reservation{State: Started}
		if err := r.Settle(0, Time{}, b, Amounts{Tokens: MostMax}); err != nil {
			t.Fatal(err)
		}
	}
	if b[0].Left != -MostMax || b[0].Free(Time{}) != 0 {
		t.Errorf("%d left", b[0].Left)
	}
}

// The fixture of a provider that sells two requests at once and one a second,
// 2,000 tokens and 1,000 a second, two calls at a time; each tenant one request
// and one every two seconds.
func TestTheGuard(t *testing.T) {
	provider := func() []Budget {
		return []Budget{
			bucket(Requests, 2, 1, time.Second), bucket(Tokens, 2000, 1000, time.Second), slots(2),
			bucket(Requests, 1, 1, 2*time.Second), // the tenant's
		}
	}
	ask := func(tokens int64) Amounts { return Amounts{Requests: 1, Tokens: tokens, Concurrent: 1} }

	t.Run("the request and the token budget refuse independently and say which", func(t *testing.T) {
		b := provider()
		if v := Decide(Time{}, b, ask(2000)); !v.OK() {
			t.Fatal(v)
		}
		b[3] = bucket(Requests, 1, 1, 2*time.Second) // another tenant
		if v := Decide(Time{}, b, ask(500)); v.Reason != reason.QuotaTokens || v.After != time.Second/2 {
			t.Errorf("%+v, want the tokens in half a second", v)
		}
		if v := Decide(Time{}, b, ask(0)); !v.OK() {
			t.Errorf("%+v: it needs no tokens", v)
		}
		b[3] = bucket(Requests, 1, 1, 2*time.Second) // a third
		b[2].Held = 0
		if v := Decide(Time{}, b, ask(0)); v.Reason != reason.QuotaRequests || v.Budget != 0 || v.After != time.Second {
			t.Errorf("%+v, want the provider's requests in a second", v)
		}
	})
	t.Run("a finished call frees its slot and gets no credits back", func(t *testing.T) {
		b := provider()
		r := Reservation{Taken: ask(1500)}
		Decide(Time{}, b, r.Taken)
		if err := errors.Join(r.Start(0), r.Settle(0, Time{}, b, Amounts{Requests: 1, Tokens: 100})); err != nil {
			t.Fatal(err)
		}
		if b[2].Held != 0 || b[1].Left != 500 || b[0].Left != 1 {
			t.Errorf("%+v", b)
		}
	})
	t.Run("the same rule after the start marker would free a slot whose call may be running", func(t *testing.T) {
		b := provider()
		before, after := Reservation{Taken: ask(1)}, Reservation{Taken: ask(1)}
		Decide(Time{}, b, before.Taken)
		b[3] = bucket(Requests, 1, 1, 2*time.Second)
		Decide(Time{}, b, after.Taken)
		if err := after.Start(0); err != nil {
			t.Fatal(err)
		}
		if err := before.Orphan(0, Time{}, b); err != nil || b[2].Held != 1 {
			t.Errorf("lost before its start marker: %v, %d slots held, want its own back", err, b[2].Held)
		}
		if err := after.Orphan(0, Time{}, b); err != nil || after.State != Unknown || b[2].Held != 1 {
			t.Errorf("lost after it: %v, %v, %d slots held, want it kept", err, after.State, b[2].Held)
		}
		if err := after.Release(0, at(unit.Instant(time.Hour)), b); !errors.Is(err, ErrStarted) {
			t.Errorf("an hour later it is released: %v", err)
		}
	})
}

// Whatever happens to a thousand calls in whatever order: slots held are the
// reservations that are not final, no more of them than there are, and what is
// left of a day's tokens is what was not taken, corrected by what is known.
func TestCountersAreTheSumOfTheReservations(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		refund := rapid.Bool().Draw(t, "refund")
		n := rapid.Int64Range(1, 5).Draw(t, "slots")
		b := []Budget{slots(n), NewBudget(Limit{Unit: Tokens, Most: 1e6, Window: Window{Period: Month}, Refund: refund}, Time{})}
		var all []*Reservation
		spent := int64(0)
		for range 200 {
			if len(all) == 0 || rapid.Bool().Draw(t, "new") {
				ask := Amounts{Concurrent: 1, Tokens: rapid.Int64Range(0, 1e5).Draw(t, "tokens")}
				if v := Decide(Time{}, b, ask); v.OK() {
					all = append(all, &Reservation{Attempt: int64(len(all)), Taken: ask})
					spent += ask[Tokens]
				}
			} else {
				i := rapid.IntRange(0, len(all)-1).Draw(t, "which")
				e := rapid.SampledFrom(events).Draw(t, "event")
				r := all[i]
				if e.name == "settle" {
					used := rapid.Int64Range(0, 2e5).Draw(t, "used")
					if r.Settle(int64(i), Time{}, b, Amounts{Tokens: used}) == nil {
						if more := used - r.Taken[Tokens]; more > 0 || refund {
							spent += more
						}
					}
				} else if e.do(r, int64(i), Time{}, b) == nil && r.State == Released {
					spent -= r.Taken[Tokens]
				}
			}
			held, tokens := int64(0), int64(0)
			for _, r := range all {
				if !r.State.Final() {
					held++
					tokens += r.Taken[Tokens]
				}
			}
			if b[0].Held != held || held > n || b[1].Held != tokens || b[1].Left != 1e6-spent || b[1].Spent != spent {
				t.Fatalf("%d of %d slots held by %d calls; %d tokens held, want %d; %d left, want %d; %d spent",
					b[0].Held, n, held, b[1].Held, tokens, b[1].Left, 1e6-spent, b[1].Spent)
			}
		}
	})
}
