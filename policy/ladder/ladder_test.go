package ladder

import (
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/spillway-dev/spillway/policy/reason"
)

// Every reason of the closed set, and whether a cheaper answer is given for it. A
// reason that is added must be decided here.
func TestWhichReasonsStepDown(t *testing.T) {
	down := "shed_for_load queue_full queue_bytes infeasible operator " + // our want of capacity
		"tenant_full quota_requests quota_tokens quota_concurrency " + // a bound that others' work does not cause
		"expired block_timeout evicted " + // a wait for nothing
		"timeout unknown failed breaker_open" // a call that failed
	not := "served accepted " + // there is nothing to replace
		"draining ledger_unavailable " + // another gateway answers; must-run work fails closed
		"rate_limited dropped " + // asking more must not pay; thrown away on purpose
		"caller_gone " + // nobody to answer
		"bad_request unauthorized too_large key_in_progress key_conflict" // wrong however well we are
	said := 0
	for names, want := range map[string]bool{down: true, not: false} {
		for _, name := range strings.Fields(names) {
			why, err := reason.Parse(name)
			if err != nil {
				t.Fatal(err)
			}
			if said++; Steps(why) != want {
				t.Errorf("%s steps down: %v, want %v", name, !want, want)
			}
		}
	}
	if said != reason.Count-1 {
		t.Errorf("%d of %d reasons are decided here", said, reason.Count-1)
	}
	if Steps(reason.None) || Steps(reason.Reason(reason.Count)) {
		t.Error("what is no reason steps down")
	}
}

func ladder(t testing.TB, rungs ...Rung) Ladder {
	t.Helper()
	l, err := New(rungs...)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func TestADescent(t *testing.T) {
	cheap := Rung{"cheap_list", 8 * time.Millisecond}
	three := ladder(t, Rung{Name: Cache}, cheap, Rung{Name: Static})
	for _, c := range []struct {
		name   string
		ladder Ladder
		why    reason.Reason
		first  int
		left   time.Duration
		misses int
		want   string
	}{
		{"the best rung is first", three, reason.Timeout, 0, time.Second, 0, "cache timeout"},
		{"what has nothing is passed by", three, reason.Timeout, 0, time.Second, 1, "cheap_list timeout"},
		{"a service without time left for it is passed by", three, reason.Timeout, 0, 7 * time.Millisecond, 1, "static timeout"},
		{"one that just fits is tried", three, reason.Timeout, 0, 8 * time.Millisecond, 1, "cheap_list timeout"},
		{"what is in memory is tried however late it is", three, reason.Expired, 0, -time.Second, 0, "cache expired"},
		{"the last rung is a refusal", three, reason.QueueFull, 0, time.Second, 3, "refusal queue_full"},
		{"and stays one", three, reason.QueueFull, 0, time.Second, 9, "refusal queue_full"},
		{"whoever is shed to a rung gets none above it", three, reason.ShedForLoad, 1, time.Second, 0, "cheap_list shed_for_load"},
		{"nor one below all", three, reason.ShedForLoad, 3, time.Second, 0, "refusal shed_for_load"},
		{"a caller's own rate is refused", three, reason.RateLimited, 0, time.Second, 0, "refusal rate_limited"},
		{"a caller who has gone gets nothing", three, reason.CallerGone, 0, time.Second, 2, "refusal caller_gone"},
		{"without a ladder there is only the refusal", Ladder{}, reason.Failed, 0, time.Second, 0, "refusal failed"},
	} {
		d, s := c.ladder.DescendTo(c.first, c.why, c.left)
		for range c.misses {
			s = d.Missed(c.left)
		}
		if got := s.Name + " " + s.Reason.String(); got != c.want || s.Refused() != strings.HasPrefix(c.want, Refusal) {
			t.Errorf("%s: %s (rung %d), want %s", c.name, got, s.Rung, c.want)
		}
	}
}

// What waits and runs ends sooner by the reserve, never by more than half of the
// time, and what is over already is not put off.
func TestTheReserveIsKeptBack(t *testing.T) {
	const ms = time.Millisecond
	for _, c := range []struct{ left, reserve, want time.Duration }{
		{300 * ms, 5 * ms, 295 * ms},
		{300 * ms, 0, 300 * ms},
		{300 * ms, -ms, 300 * ms},
		{6 * ms, 5 * ms, 3 * ms},
		{0, 5 * ms, 0},
		{-ms, 5 * ms, -ms},
	} {
		if got := InTime(c.left, c.reserve); got != c.want {
			t.Errorf("of %v with %v kept back: %v, want %v", c.left, c.reserve, got, c.want)
		}
	}
}

func TestDoubledNamesAreNumbered(t *testing.T) {
	l := ladder(t, Rung{Name: "static"}, Rung{Name: "static-2"}, Rung{Name: "static"}, Rung{Name: "static"})
	var got []string
	for i := range l.Len() {
		got = append(got, l.Name(i))
	}
	if s := strings.Join(got, " "); s != "static static-2 static-3 static-4" {
		t.Error(s)
	}
}

func TestWhatIsNoLadder(t *testing.T) {
	for want, rungs := range map[string][]Rung{
		"rung 2 has no name":           {{Name: Cache}, {}},
		"rung 1 is named primary":      {{Name: Primary}},
		"rung 1 is named refusal":      {{Name: Refusal}},
		"rung 1 needs -1ns; write 0":   {{Name: Cache, Needs: -1}},
		"17 rungs; at most 16 make se": make([]Rung, RungsMax+1),
	} {
		if _, err := New(rungs...); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want one with %q", err, want)
		}
	}
}

// Whatever happens on the way: it ends, every rung is tried at most once and in
// order, the reason stays, and the names are distinct.
func TestEveryDescentEndsInOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rungs := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) Rung {
			return Rung{rapid.SampledFrom([]string{Cache, Static, "u", "u-2"}).Draw(t, "name"),
				time.Duration(rapid.IntRange(0, 3).Draw(t, "needs"))}
		}), 0, RungsMax).Draw(t, "rungs")
		l, err := New(rungs...)
		if err != nil {
			t.Fatal(err)
		}
		seen := map[string]bool{}
		for i := range l.Len() {
			if seen[l.Name(i)] {
				t.Fatalf("%s is there twice", l.Name(i))
			}
			seen[l.Name(i)] = true
		}
		why := rapid.SampledFrom(reason.All()).Draw(t, "why")
		left := func() time.Duration { return time.Duration(rapid.IntRange(-1, 4).Draw(t, "left")) }
		last, now := -1, left()
		d, s := l.Descend(why, now)
		for n := 0; !s.Refused(); n++ {
			if n > RungsMax || s.Rung <= last || !Steps(why) {
				t.Fatalf("after %d steps, from rung %d to %d for %v", n, last, s.Rung, why)
			}
			if needs := rungs[s.Rung].Needs; needs > 0 && needs > now {
				t.Fatalf("rung %d needs %v of %v", s.Rung, needs, now)
			}
			if s.Reason != why || s.Name != l.Name(s.Rung) {
				t.Fatalf("%+v, the reason was %v", s, why)
			}
			last, now = s.Rung, left()
			if rapid.Bool().Draw(t, "full") {
				s = d.Full(now)
			} else {
				s = d.Missed(now)
			}
		}
		if s.Reason != why || s.Name != Refusal {
			t.Fatalf("%+v, the reason was %v", s, why)
		}
	})
}

func TestADescentAllocatesNothing(t *testing.T) {
	l := ladder(t, Rung{Name: Cache}, Rung{Name: Static})
	if n := testing.AllocsPerRun(100, func() {
		d, s := l.Descend(reason.Timeout, time.Second)
		for !s.Refused() {
			s = d.Missed(0)
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
