package store

import (
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/spillway-dev/spillway/policy/call"
	"github.com/spillway-dev/spillway/policy/reason"
	"github.com/spillway-dev/spillway/policy/unit"
)

// played is a round with all that was heard of it.
type played struct {
	Sums
	requests []Request
	lookups  []Lookup
}

func play(t interface{ Fatal(...any) }, s Scenario) *played {
	r, err := New(s)
	if err != nil {
		t.Fatal(err)
	}
	p := &played{}
	p.Sums, err = r.Play(Watch{
		Request: func(q *Request) { p.requests = append(p.requests, *q) },
		Lookup:  func(l *Lookup) { p.lookups = append(p.lookups, *l) },
	})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

var unbounded = call.Budget{Off: true}

// scenario is the experiment's, for a few seconds.
func scenario(law Law, p call.Policy) Scenario {
	return Scenario{
		Draws: NewDraws(1, 0, law, 0), Rate: 450, For: 5 * time.Second, Senders: 64, Rest: 1900 * us, Policy: p, Store: Store{Slots: 16},
	}
}

var (
	limit25 = call.Policy{Timeout: 25 * ms}
	retry2  = call.Policy{Timeout: 25 * ms, Retries: 2, Budget: unbounded}
	paused  = call.Policy{Timeout: 25 * ms, Retries: 2, Budget: unbounded, Backoff: call.Backoff{Base: 10 * ms, Jitter: call.Full}}
	second  = call.Policy{Timeout: 25 * ms, Hedge: call.Hedge{After: 10 * ms, Budget: unbounded}}
)

// A pause, a hedge or a deadline that goes along changes no wait: the same attempt
// of the same request meets the same dice in every arm.
func TestEveryArmMeetsTheSameDice(t *testing.T) {
	type attempt struct {
		n int64
		k uint16
	}
	drawn := map[attempt]time.Duration{}
	shared := 0
	for name, p := range map[string]call.Policy{"none": {}, "fb25": limit25, "r2": retry2, "r2bj": paused, "hedge": second} {
		for _, l := range play(t, scenario(Freezing, p)).lookups {
			key := attempt{l.N, l.Attempt}
			if was, seen := drawn[key]; seen {
				shared++
				if was != l.Drawn {
					t.Fatalf("%s: attempt %d of request %d waits %v, in another arm %v", name, l.Attempt, l.N, l.Drawn, was)
				}
			}
			drawn[key] = l.Drawn
		}
	}
	if shared < 4*2000 {
		t.Errorf("only %d attempts were made in two arms", shared)
	}
}

// A store that does not notice runs out every wait, for nobody if need be.
func TestTheStoreDoesNotNoticeThatItsCallerHasGone(t *testing.T) {
	late := 0
	for _, l := range play(t, scenario(Freezing, retry2)).lookups {
		if l.Ended.Sub(l.Begun) != l.Drawn {
			t.Fatalf("attempt %d of request %d held its slot %v of %v", l.Attempt, l.N, l.Ended.Sub(l.Begun), l.Drawn)
		}
		if l.Fate == Late {
			late++
			if !l.Cut {
				t.Errorf("request %d: late and not cut off", l.N)
			}
		}
	}
	if late == 0 {
		t.Error("nothing was late")
	}
}

// A limit that goes along is where the store stops, in the slot and in the line.
// Of equal limits first come first served the line's head always gets its slot in
// time: it takes hedges, which have less of theirs left, to stop there.
func TestALimitThatGoesAlongStopsTheStore(t *testing.T) {
	s := scenario(Freezing, call.Policy{Timeout: 25 * ms, Hedge: call.Hedge{After: 10 * ms, Budget: unbounded, SlowShare: 100}})
	s.Travels = true
	s.Store.Slots = 1 // so that many wait in line
	p := play(t, s)
	inLine, inSlot := 0, 0
	for _, l := range p.lookups {
		if l.Ended > l.Limit {
			t.Fatalf("request %d: its limit was %v, it ended at %v", l.N, l.Limit, l.Ended)
		}
		switch {
		case l.Fate == Stopped && l.Begun < 0:
			inLine++
		case l.Fate == Stopped:
			inSlot++
		}
	}
	if inLine == 0 || inSlot == 0 {
		t.Errorf("stopped in line: %d, in the slot: %d", inLine, inSlot)
	}
	for _, q := range p.requests {
		if q.Reason == reason.Timeout && !q.CutUnfrozen && !q.Frozen {
			t.Errorf("request %d timed out; nothing froze and nothing was cut off", q.N)
		}
	}
}

// With one slot and one sender everything can be done by hand.
func TestByHand(t *testing.T) {
	s := scenario(Fixed, call.Policy{})
	s.Senders, s.Store.Slots, s.Rate, s.For = 1, 1, 100, time.Second
	p := play(t, s)
	free := unit.Instant(0)
	for i, q := range p.requests {
		begun := max(q.Scheduled, free)
		if q.N != int64(i) || q.Begun != begun || q.Slot != begun || q.Decided != begun.Add(2*ms) || q.Answered != begun.Add(3900*us) || q.Reason != reason.Served {
			t.Fatalf("request %d: %+v, its sender was free at %v", i, q, free)
		}
		free = q.Answered
	}
}

// A deadline counts from the scheduled instant, also of who waited for a sender.
func TestDeadlinesCountFromTheScheduledInstant(t *testing.T) {
	s := scenario(Freezing, call.Policy{Reserve: 2 * ms})
	s.Deadline, s.Senders, s.Rate, s.For = 25*ms, 1, 100, 10*time.Second
	waited := false
	for _, q := range play(t, s).requests {
		if q.Reason != reason.Served && q.Decided > max(q.Begun, q.Scheduled.Add(23*ms)) {
			t.Fatalf("request %d: due at %v, given up at %v", q.N, q.Scheduled, q.Decided)
		}
		waited = waited || q.Begun > q.Scheduled
	}
	if !waited {
		t.Error("nobody waited for the sender")
	}
}

// A guard refuses what cannot be done in time; slots and order are its own.
func TestAGuardTurnsAway(t *testing.T) {
	s := scenario(Freezing, limit25)
	s.Store.Slots, s.Travels, s.Store.Guarded = 1, true, true
	for _, deaf := range []bool{false, true} {
		s.Store.Deaf = deaf
		turned := 0
		for _, l := range play(t, s).lookups {
			if l.Fate == Turned {
				turned++
				if l.Begun >= 0 {
					t.Errorf("request %d was turned away and had a slot", l.N)
				}
			}
			if deaf && l.Begun >= 0 && l.Ended.Sub(l.Begun) != l.Drawn {
				t.Errorf("request %d was stopped by a store that is deaf", l.N)
			}
			if !deaf && l.Ended > l.Limit {
				t.Errorf("request %d ran beyond its limit", l.N)
			}
		}
		if turned == 0 {
			t.Errorf("deaf %v: nobody was turned away", deaf)
		}
	}
}

// A second ask goes to another copy.
func TestAHedgeGoesToTheOtherCopy(t *testing.T) {
	s := scenario(Freezing, second)
	s.Store.Slots, s.Store.Copies = 8, 2
	first := map[int64]int{}
	p := play(t, s)
	for _, l := range p.lookups {
		if l.Attempt == 1 {
			first[l.N] = l.Copy
		}
	}
	hedges := 0
	for _, l := range p.lookups {
		if l.Hedge {
			hedges++
			if l.Copy == first[l.N] {
				t.Errorf("request %d asked copy %d twice", l.N, l.Copy)
			}
		}
	}
	if hedges < 100 {
		t.Errorf("%d hedges", hedges)
	}
}

func TestScenariosThatAreWrong(t *testing.T) {
	for want, change := range map[string]func(*Scenario){
		"no draws":      func(s *Scenario) { s.Draws = nil },
		"rate":          func(s *Scenario) { s.Rate = 0 },
		"round of":      func(s *Scenario) { s.For = 0 },
		"senders":       func(s *Scenario) { s.Senders = 0 },
		"slots":         func(s *Scenario) { s.Store.Slots = 0 },
		"copies":        func(s *Scenario) { s.Store.Copies = 65 },
		"without a gua": func(s *Scenario) { s.Store.Deaf = true },
		"Retries":       func(s *Scenario) { s.Policy.Retries = -1 },
	} {
		s := scenario(Fixed, call.Policy{})
		change(&s)
		if _, err := New(s); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v does not say %q", err, want)
		}
	}
}

// Whatever the scenario: the account closes; never more in slots than there are,
// never more under way than senders; who came first is served first; each request
// is answered once, no sooner than it was decided.
func TestInvariants(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := scenario(Freezing, call.Policy{
			Timeout: time.Duration(rapid.IntRange(0, 60).Draw(t, "timeout")) * ms, Retries: rapid.IntRange(0, 3).Draw(t, "retries"),
			Backoff: call.Backoff{Base: time.Duration(rapid.IntRange(0, 20).Draw(t, "pause")) * ms},
			Hedge:   call.Hedge{After: time.Duration(rapid.IntRange(0, 15).Draw(t, "hedge")) * ms, Budget: unbounded},
			Budget:  call.Budget{Off: rapid.Bool().Draw(t, "no budget"), Percent: 10, Floor: 3},
		})
		s.Draws = NewDraws(rapid.Uint64().Draw(t, "seed"), 0, Freezing, rapid.IntRange(0, 20_000).Draw(t, "slow"))
		s.For = 2 * time.Second
		s.Deadline = time.Duration(rapid.IntRange(0, 100).Draw(t, "deadline")) * ms
		s.Travels = rapid.Bool().Draw(t, "travels")
		s.Senders = rapid.IntRange(1, 80).Draw(t, "senders")
		s.Store = Store{Slots: rapid.IntRange(1, 20).Draw(t, "slots"), Copies: rapid.IntRange(1, 3).Draw(t, "copies"), Guarded: rapid.Bool().Draw(t, "guarded"),
			Busy: Busy{Every: time.Second, For: 100 * ms, Factor: 10}}
		p := play(t, s)
		if int64(len(p.requests)) != p.Requests || int64(len(p.lookups)) != p.Lookups {
			t.Fatalf("%+v, heard of %d and %d", p.Sums, len(p.requests), len(p.lookups))
		}
		attempts, under := int64(0), changes{}
		seen := map[int64]bool{}
		for _, q := range p.requests {
			if seen[q.N] || q.Begun < q.Scheduled || q.Decided < q.Begun || q.Answered != q.Decided.Add(s.Rest) || q.Sent < q.Begun {
				t.Fatalf("request %+v", q)
			}
			seen[q.N] = true
			attempts += int64(q.Attempts)
			under = under.add(q.Begun, q.Answered)
		}
		if attempts != p.Lookups {
			t.Fatalf("requests made %d attempts, the store had %d", attempts, p.Lookups)
		}
		if n := under.most(); n > s.Senders {
			t.Fatalf("%d requests under way, %d senders", n, s.Senders)
		}
		for c := range max(1, s.Store.Copies) {
			var held changes
			var order []Lookup
			for _, l := range p.lookups {
				if l.Copy == c && l.Begun >= 0 {
					held = held.add(l.Begun, l.Ended)
					order = append(order, l)
				}
			}
			if n := held.most(); n > s.Store.Slots {
				t.Fatalf("%d lookups in the %d slots of copy %d", n, s.Store.Slots, c)
			}
			if s.Store.Guarded {
				continue // its order is the guard's
			}
			slices.SortStableFunc(order, func(a, b Lookup) int { return int(a.Sent - b.Sent) })
			for i := 1; i < len(order); i++ {
				if order[i].Begun < order[i-1].Begun && order[i].Sent > order[i-1].Sent {
					t.Fatalf("sent at %v and begun at %v, before %v and %v", order[i].Sent, order[i].Begun, order[i-1].Sent, order[i-1].Begun)
				}
			}
		}
	})
}

// changes are instants at which a count goes up or down.
type changes []struct {
	at unit.Instant
	by int
}

func (c changes) add(from, to unit.Instant) changes {
	return append(c, changes{{from, 1}, {to, -1}}...)
}

// most is the highest count; what ends at an instant is over when another begins.
func (c changes) most() int {
	slices.SortFunc(c, func(a, b struct {
		at unit.Instant
		by int
	}) int {
		if a.at != b.at {
			return int(a.at - b.at)
		}
		return a.by - b.by
	})
	n, most := 0, 0
	for _, x := range c {
		n += x.by
		most = max(most, n)
	}
	return most
}

// A longer round allocates no more: memory follows what waits, not what has been.
func TestALookupAllocatesNothing(t *testing.T) {
	allocs := func(length time.Duration) float64 {
		s := scenario(Freezing, retry2)
		s.For = length
		return testing.AllocsPerRun(3, func() {
			r, err := New(s)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := r.Play(Watch{}); err != nil {
				t.Fatal(err)
			}
		})
	}
	if short, long := allocs(5*time.Second), allocs(20*time.Second); long > short+20 {
		t.Errorf("%v allocations in 5 s, %v in 20 s", short, long)
	}
}
