package call

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/spillway-dev/spillway/policy/unit"
)

// A hedge waits for its delay until enough is measured, then for the percentile.
func TestAHedgeWaitsForWhatIsMeasured(t *testing.T) {
	d := mustNew(t, Policy{Hedge: Hedge{After: 50 * time.Millisecond, Percentile: 90}})
	next := func() unit.Instant {
		var c Call
		due := d.Begin(0, &c, Request{Deadline: unit.Never, Idempotent: true}).Next
		d.Left(0, &c)
		return due
	}
	for i := range 100 {
		if got := next(); got != milli(50) {
			t.Fatalf("due at %v after %d answers, want 50ms", got, i)
		}
		d.latency.Add(time.Duration(i) * time.Millisecond)
	}
	if got := next(); got < milli(88) || got > milli(94) {
		t.Errorf("due at %v, and nine of ten answers took up to 90 ms", got)
	}
	if got := d.State(0).HedgeAfter; unit.Instant(got) != next() {
		t.Errorf("State says %v", got)
	}
}

// A policy that is changed to another percentile goes by what was measured under the one
// before: it does not hedge blindly, or not at all, until a hundred more were answered.
func TestAnotherPercentileGoesByWhatWasMeasured(t *testing.T) {
	for _, k := range []struct {
		from, to  int
		least, at unit.Instant
	}{
		{95, 90, milli(450), milli(465)}, {90, 95, milli(475), milli(491)},
		{0, 50, milli(250), milli(259)}, {50, 0, unit.Never, unit.Never},
	} {
		d := mustNew(t, Policy{Hedge: Hedge{Percentile: k.from}})
		for i := range 500 {
			d.latency.Add(time.Duration(i) * time.Millisecond)
		}
		d.State(0)
		if err := d.Reconfigure(0, Policy{Hedge: Hedge{Percentile: k.to}}); err != nil {
			t.Fatal(err)
		}
		var c Call
		if due := d.Begin(0, &c, Request{Deadline: unit.Never, Idempotent: true}).Next; due < k.least || due > k.at {
			t.Errorf("p%d after p%d: due at %v, want %v .. %v", k.to, k.from, due, k.least, k.at)
		}
		if s := d.State(0); s.Samples != 500 || s.Median < 240*time.Millisecond || s.Median > 250*time.Millisecond {
			t.Errorf("p%d after p%d: a median of %v over %d", k.to, k.from, s.Median, s.Samples)
		}
	}
}

// A hedge that the throttle holds back costs its budget nothing.
func TestAHeldHedgeKeepsItsBudget(t *testing.T) {
	w := newWorld(t, Policy{Hedge: Hedge{After: 10 * time.Millisecond, SlowShare: 100, Budget: Budget{Floor: 1}}, Throttle: Throttle{K: 1}}, answers(time.Millisecond, Broken))
	offer(w, 0, 2*second, 500, Request{Idempotent: true}, time.Second)
	w.run(3 * second)
	w.serve = answers(30*time.Millisecond, Broken)
	offer(w, 3*second, 4*second, 500, Request{Idempotent: true}, time.Second)
	w.run(5 * second)
	s := w.d.State(w.now)
	if s.HedgesHeld == 0 {
		t.Fatal("no hedge was held")
	}
	if w.d.hedges.reserved != 0 {
		t.Errorf("%d hedges are reserved and nothing is in flight", w.d.hedges.reserved)
	}
}

// A probe is how the breaker finds out: the throttle does not get to refuse it, and
// learns nothing from it.
func TestProbesAreNotThrottled(t *testing.T) {
	for seed := range uint64(20) {
		d := mustNew(t, Policy{Breaker: Breaker{Consecutive: 30, OpenFor: time.Second}, Throttle: Throttle{K: 1}, Seed: seed})
		var c Call
		now := unit.Instant(0)
		for i := 0; d.State(now).Breaker != Open; i++ {
			if i > 10_000 {
				t.Fatal("it does not open")
			}
			if s := d.Begin(now, &c, Request{Deadline: unit.Never}); s.Do == Send {
				d.Ended(now, &c, 1, Outcome{Result: Broken})
			}
		}
		if d.State(now).Throttled < 0.8 {
			t.Fatal("it is not throttled")
		}
		now = now.Add(time.Second)
		before := d.throttle
		if s := d.Begin(now, &c, Request{Deadline: unit.Never}); s.Do != Send {
			t.Fatalf("seed %d: the probe is told %+v", seed, s)
		}
		d.Ended(now, &c, 1, Outcome{})
		if d.throttle != before {
			t.Error("the throttle has counted a probe")
		}
	}
}

// A refused call whose turn comes after its deadline is given up at once.
func TestATurnAfterTheDeadlineIsNoTurn(t *testing.T) {
	pause := Backoff{Base: 10 * time.Millisecond, Jitter: NoJitter}
	w := newWorld(t, Policy{Retries: 1, Budget: Budget{Off: true}, Backoff: pause}, func(_ unit.Instant, a sent) (time.Duration, Outcome) {
		if a.call < 2 || a.number > 1 {
			return 0, Outcome{}
		}
		return time.Millisecond, Outcome{Result: Refused}
	})
	for range 6 { // the first two are accepted: two a second
		w.call(Request{Deadline: milli(900)})
	}
	w.run(milli(2))
	for i, want := range []Do{Answer, Answer, Nothing, Nothing, GiveUp, GiveUp} {
		if got := w.calls[i].do; got != want {
			t.Errorf("call %d: %v, want %v", i, got, want)
		}
	}
	w.run(second)
	if got := w.calls[3]; got.do != Answer || got.ended != milli(501) {
		t.Errorf("the second of the refused: %v at %v, want its turn half a second after the first's", got.do, got.ended)
	}
}

// What a server asked for is no pause of ours: the next grows with what we paused for
// ourselves, and with that only.
func TestAPushbackDoesNotStretchTheNextPause(t *testing.T) {
	longest := time.Duration(0)
	for seed := range uint64(50) {
		d := mustNew(t, Policy{Retries: 3, Budget: Budget{Off: true}, Backoff: Backoff{Base: 10 * time.Millisecond, Jitter: Decorrelated}, Seed: seed})
		var c Call
		d.Begin(0, &c, Request{Deadline: unit.Never})
		s := d.Ended(0, &c, 1, Outcome{Result: Refused, After: 10 * time.Second})
		if s.Next < 10*second || s.Next > 10*second+milli(30) {
			t.Fatalf("paused until %v", s.Next)
		}
		now := s.Next
		d.Passed(now, &c)
		s = d.Ended(now, &c, 2, Outcome{Result: Unsent})
		longest = max(longest, s.Next.Sub(now))
	}
	if longest <= 30*time.Millisecond || longest > 90*time.Millisecond {
		t.Errorf("the longest second pause is %v, want up to three times the first, which was up to 30 ms", longest)
	}
}

// An absurd pushback is obeyed as what it is: no retry, and no overflow into one at
// once.
func TestAnAbsurdPushbackIsNoRetry(t *testing.T) {
	d := mustNew(t, Policy{Retries: 3, Budget: Budget{Off: true}, Backoff: Backoff{Base: time.Hour}})
	var c Call
	for _, deadline := range []unit.Instant{unit.Instant(1) << 62, second} {
		d.Begin(second/2, &c, Request{Deadline: deadline})
		if s := d.Ended(second/2, &c, 1, Outcome{Result: Refused, After: math.MaxInt64}); s.Do != GiveUp || s.After <= 0 {
			t.Errorf("deadline %v: told %+v", deadline, s)
		}
	}
}

// All were told the same second, or are held by it. They come after it, and not in
// one instant.
func TestThoseWhoWereToldTheSameDoNotComeTogether(t *testing.T) {
	d := mustNew(t, Policy{Retries: 1, Budget: Budget{Off: true}, Backoff: Backoff{Base: 100 * ms}})
	seen := map[unit.Instant]int{}
	for i := range 1000 {
		o := Outcome{Result: Refused, After: time.Second}
		if i%2 == 1 {
			o = Outcome{Result: Unsent}
		}
		var c Call
		d.Begin(0, &c, Request{Deadline: unit.Never})
		at := d.Ended(0, &c, 1, o).Next
		if at < second || at > second+milli(100) {
			t.Fatalf("comes at %v; want 1 s to 1.1 s", at)
		}
		seen[at/milli(1)]++
	}
	for at, n := range seen {
		if n > 40 {
			t.Errorf("%d of 1,000 come in millisecond %d", n, at)
		}
	}
}

// A driver that forgets a call and begins another in its place has done wrong, and
// takes nothing from anybody else for it.
func TestAForgottenCallGivesBackWhatItHeld(t *testing.T) {
	d := mustNew(t, Policy{Retries: 1, Backoff: Backoff{Base: time.Second, Jitter: NoJitter}, Budget: Budget{Floor: 1}})
	var c Call
	for i := range 5 {
		d.Begin(0, &c, Request{Deadline: unit.Never, Idempotent: true})
		if s := d.Ended(0, &c, 1, Outcome{Result: Broken}); s.Do != Nothing {
			t.Fatalf("call %d is not paused but told %+v", i, s)
		}
	}
}

// The same calls with the same dice meet the same pauses, whatever other calls do.
func TestTheSameDiceGiveTheSamePauses(t *testing.T) {
	pause := func(others int) unit.Instant {
		d := mustNew(t, Policy{Retries: 1, Backoff: Backoff{Base: time.Second}})
		var c Call
		for range others {
			d.Begin(0, &c, Request{Deadline: unit.Never, Idempotent: true})
			d.Ended(0, &c, 1, Outcome{})
		}
		d.Begin(0, &c, Request{Deadline: unit.Never, Idempotent: true, Dice: 7})
		return d.Ended(0, &c, 1, Outcome{Result: Broken}).Next
	}
	if a, b := pause(0), pause(9); a != b {
		t.Errorf("%v and %v", a, b)
	}
}

func TestValidateSaysWhatIsWrongAndWhatWouldBeRight(t *testing.T) {
	for want, p := range map[string]Policy{
		"Timeout is -1s":                     {Timeout: -time.Second},
		"Reserve is -1ns":                    {Reserve: -1},
		"Retries is 101 and must lie in 0":   {Retries: RetriesMax + 1},
		"Retries is -1":                      {Retries: -1},
		"Hedge.After is -1s":                 {Hedge: Hedge{After: -time.Second}},
		"Hedge.Percentile is 100":            {Hedge: Hedge{Percentile: 100}},
		"Hedge.SlowShare is 101":             {Hedge: Hedge{SlowShare: 101}},
		"Backoff: base":                      {Backoff: Backoff{Base: -1}},
		"Budget: percent":                    {Budget: Budget{Percent: -1}},
		"Hedge.Budget: percent":              {Hedge: Hedge{Budget: Budget{Percent: -1}}},
		"Breaker: failures":                  {Breaker: Breaker{Failures: 101}},
		"Throttle: k":                        {Throttle: Throttle{K: -1}},
		"Timeout is -1s and must not be neg": {Timeout: -time.Second, Retries: 3},
	} {
		d, err := New(p)
		if err == nil || d != nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want %q", p, err, want)
			continue
		}
		d = mustNew(t, everything())
		before := d.policy
		if err := d.Reconfigure(0, p); err == nil || d.policy != before {
			t.Errorf("%s: Reconfigure says %v and has half-applied it", want, err)
		}
	}
	if _, err := New(everything()); err != nil {
		t.Error(err)
	}
	if _, err := New(Policy{}); err != nil {
		t.Error(err)
	}
}

func TestDefaults(t *testing.T) {
	p := Policy{Hedge: Hedge{Percentile: 70}}.WithDefaults()
	if p.Budget != (Budget{Percent: 10, Floor: 3}) || p.Hedge.Budget != p.Budget {
		t.Errorf("budgets %+v, %+v", p.Budget, p.Hedge.Budget)
	}
	for _, c := range []struct {
		hedge Hedge
		want  float64
	}{
		{Hedge{}, 20}, {Hedge{Percentile: 95}, 20}, {Hedge{Percentile: 70}, 60}, {Hedge{Percentile: 50}, 80},
		{Hedge{Budget: Budget{Percent: 25}}, 50}, {Hedge{Budget: Budget{Off: true, Percent: 25}}, 20}, {Hedge{SlowShare: 7}, 7},
	} {
		if got := (Policy{Hedge: c.hedge}).WithDefaults().Hedge.SlowShare; got != c.want {
			t.Errorf("%+v: slow from %v %%, want %v", c.hedge, got, c.want)
		}
	}
}

// A call without a hedge or a retry allocates nothing, nor does one with both.
func TestNoCallAllocates(t *testing.T) {
	d := mustNew(t, everything())
	var c Call
	now := unit.Instant(0)
	if n := testing.AllocsPerRun(500, func() {
		now = now.Add(time.Millisecond)
		s := d.Begin(now, &c, Request{Deadline: unit.Never, Idempotent: true})
		d.Sent(now, &c, s.Attempt)
		if s.Do == Send {
			d.Passed(s.Next, &c)
			d.Ended(now, &c, 1, Outcome{Result: Refused, After: time.Millisecond})
		}
		d.Left(now, &c)
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
