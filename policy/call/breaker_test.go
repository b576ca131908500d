package call

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/spillway-dev/spillway/policy/chance"
	"github.com/spillway-dev/spillway/policy/unit"
)

// rig is a breaker with a clock and dice.
type rig struct {
	*testing.T
	breaker
	now  unit.Instant
	dice chance.Source
}

func newRig(t *testing.T, c Breaker) *rig {
	return &rig{T: t, breaker: newBreaker(c), dice: chance.New(1)}
}

func (r *rig) pass(d time.Duration) { r.now = r.now.Add(d) }

// ask asks for one attempt; want says whether it is to be admitted.
func (r *rig) ask(want bool) lease {
	r.Helper()
	l, ok := r.admit(r.now, &r.dice)
	if ok != want {
		state, until := r.state(r.now)
		r.Fatalf("%v: admitted %v, want %v; %v until %v", r.now, ok, want, state, until)
	}
	return l
}

func (r *rig) tell(l lease, v verdict) { r.report(r.now, l, v, ms) }

// calls makes n calls that end so, one a millisecond.
func (r *rig) calls(n int, v verdict) {
	r.Helper()
	for range n {
		r.tell(r.ask(true), v)
		r.pass(ms)
	}
}

func (r *rig) is(want BreakerState) {
	r.Helper()
	if got, _ := r.state(r.now); got != want {
		r.Fatalf("%v: %v, want %v", r.now, got, want)
	}
}

// trip opens it, and passes the time it stays open.
func (r *rig) trip() {
	r.Helper()
	r.calls(r.rule.MinCalls, bad)
	r.is(Open)
	r.pass(r.rule.OpenFor)
}

var byHalf = Breaker{Failures: 50}

func TestWhatOpensABreaker(t *testing.T) {
	slowly := Breaker{Slow: 50, SlowAfter: 100 * ms}
	for _, c := range []struct {
		name  string
		rule  Breaker
		good  int // then
		bad   int
		took  time.Duration
		opens bool
	}{
		{"half fail", byHalf, 10, 10, ms, true},
		{"fewer than half", byHalf, 11, 10, ms, false},
		{"too few calls to judge", byHalf, 0, 19, ms, false},
		{"as many as are needed", Breaker{Failures: 50, MinCalls: 5}, 0, 5, ms, true},
		{"half are slow", slowly, 10, 10, 100 * ms, true},
		{"fast failures are not slow", slowly, 0, 100, 99 * ms, false},
		{"in a row", Breaker{Consecutive: 5}, 100, 5, ms, true},
		{"not enough in a row", Breaker{Consecutive: 5}, 0, 4, ms, false},
		{"either rule", Breaker{Failures: 50, Consecutive: 5}, 100, 5, ms, true},
		{"no rule", Breaker{}, 0, 1000, time.Hour, false},
	} {
		r := newRig(t, c.rule)
		r.calls(c.good, good)
		for range c.bad {
			r.report(r.now, r.ask(true), bad, c.took)
		}
		if got, _ := r.state(r.now); (got == Open) != c.opens {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}

func TestOneGoodAnswerEndsARow(t *testing.T) {
	r := newRig(t, Breaker{Consecutive: 3})
	for range 100 {
		r.calls(2, bad)
		r.calls(1, good)
	}
	r.is(Closed)
}

func TestFailuresOlderThanTheWindowAreForgotten(t *testing.T) {
	r := newRig(t, Breaker{Failures: 50, Window: 10 * time.Second})
	r.calls(19, bad)
	r.pass(10 * time.Second)
	r.calls(19, bad)
	r.is(Closed)
	r.calls(1, bad)
	r.is(Open)
}

// The upstream takes three seconds and clients give up after one: all calls are
// slow although none has failed. It takes 20 ms and a client leaves after 5: that
// says nothing. Our own refusal, a caller's fault, a panic before sending: nothing.
func TestWhoLeavesASlowCallSaysSomethingAndWhoLeavesAFastOneNothing(t *testing.T) {
	r := newRig(t, Breaker{Slow: 50, SlowAfter: 500 * ms, Failures: 50})
	for range 1000 {
		r.report(r.now, r.ask(true), neutral, 5*ms)
	}
	if calls, failed, slow := r.recent.sums(r.now); calls+failed+slow != 0 {
		t.Fatalf("fast and neutral: %d calls, %d failed, %d slow", calls, failed, slow)
	}
	for range 19 {
		r.report(r.now, r.ask(true), neutral, time.Second)
	}
	if calls, _, slow := r.recent.sums(r.now); calls != 19 || slow != 19 {
		t.Fatalf("slow and neutral: %d of %d are slow", slow, calls)
	}
	r.report(r.now, r.ask(true), neutral, time.Second)
	r.is(Open)
}

// A hundred calls at once on a limit of one: 99 are refused by us.
func TestOurOwnRefusalsDoNotOpenABreaker(t *testing.T) {
	r := newRig(t, Breaker{Failures: 1, Consecutive: 1})
	for range 99 {
		r.tell(r.ask(true), neutral)
	}
	r.calls(1, good)
	r.is(Closed)
}

// Whatever becomes of a probe, the breaker finds its way out: at the latest when
// its lease runs out a new probe is admitted, and a good answer closes it.
func TestNoEndOfAProbeWedgesTheBreaker(t *testing.T) {
	for name, end := range map[string]func(*rig, lease){
		"a later rule refuses":  func(r *rig, l lease) { r.tell(l, neutral) },
		"its client leaves":     func(r *rig, l lease) { r.pass(2 * ms); r.tell(l, neutral) },
		"its status is ignored": func(r *rig, l lease) { r.tell(l, neutral) },
		"it panics":             func(r *rig, l lease) { r.tell(l, neutral) },
		"it hangs":              func(*rig, lease) {},
		"it is told twice":      func(r *rig, l lease) { r.tell(l, neutral); r.tell(l, neutral) },
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, Breaker{Failures: 50, Probes: 2, ProbeTimeout: 5 * time.Second})
			r.trip()
			for range 50 { // as often as it likes
				end(r, r.ask(true))
				end(r, r.ask(true))
				r.pass(r.rule.ProbeTimeout)
			}
			r.is(HalfOpen)
			r.tell(r.ask(true), good)
			r.is(Recovering)
			r.pass(RecoverMax)
			r.calls(100, good)
			r.is(Closed)
		})
	}
}

func TestANeutralProbeMakesRoomForTheNextAtOnce(t *testing.T) {
	r := newRig(t, Breaker{Failures: 50, Probes: 1})
	r.trip()
	l := r.ask(true)
	r.ask(false)
	if at := r.opens(r.now); at != r.now.Add(ProbeTimeoutDefault) {
		t.Errorf("could admit again at %v; want when the lease runs out", at)
	}
	r.tell(l, neutral)
	r.ask(true)
}

// 500 calls at the instant at which it opens halfway, and nobody answers.
func TestNoMoreProbesThanPermitted(t *testing.T) {
	for _, probes := range []int{1, 3, ProbesMax} {
		r := newRig(t, Breaker{Failures: 50, Probes: probes})
		r.trip()
		for range 3 {
			admitted := 0
			for range 500 {
				if _, ok := r.admit(r.now, &r.dice); ok {
					admitted++
				}
			}
			if admitted != probes {
				t.Errorf("%d probes at once; %d are permitted", admitted, probes)
			}
			r.pass(r.rule.ProbeTimeout) // they hang
		}
	}
}

// A lease that has run out and was given on is not the next one's to lose.
func TestALateProbeFreesNobodyElsesPlace(t *testing.T) {
	r := newRig(t, Breaker{Failures: 50, Probes: 1})
	r.trip()
	late := r.ask(true)
	r.pass(r.rule.ProbeTimeout)
	r.ask(true)
	r.tell(late, neutral)
	r.ask(false)
}

// Every answer takes longer than a lease. It counts all the same, or the
// dependency would be closed off for ever.
func TestADependencySlowerThanLeasesComesBack(t *testing.T) {
	r := newRig(t, Breaker{Failures: 50, Probes: 2, ProbeTimeout: 100 * ms})
	r.trip()
	l := r.ask(true)
	r.pass(150 * ms)
	r.ask(true)
	r.report(r.now, l, good, 150*ms)
	r.is(Recovering)
}

// Calls that were under way when it opened fail one after the other, for long.
func TestWhatBeganBeforeChangesNothing(t *testing.T) {
	r := newRig(t, byHalf)
	var early []lease
	for range 200 {
		early = append(early, r.ask(true))
	}
	r.trip()
	tell := func(v verdict) {
		r.Helper()
		before := r.breaker
		for range 20 {
			r.tell(early[0], v)
			early = early[1:]
		}
		if r.breaker != before {
			r.Errorf("a %v of before changes it: %+v", r.phase, r.breaker)
		}
	}
	tell(good)
	tell(bad)
	one, other := r.ask(true), r.ask(true)
	tell(good)
	tell(bad)
	r.tell(one, good)
	tell(bad)
	r.tell(other, bad) // it was decided without this one
	r.is(Recovering)
	r.pass(RecoverMax)
	r.ask(true)
	tell(bad)
	r.is(Closed)
}

func TestItStaysOpenLongerWhileProbesFail(t *testing.T) {
	r := newRig(t, Breaker{Failures: 50, OpenFor: time.Second, OpenMax: 5 * time.Second})
	r.calls(20, bad)
	for round, want := range []time.Duration{1, 2, 4, 5, 5, 5} {
		opened := r.now
		for {
			if l, ok := r.admit(r.now, &r.dice); ok {
				r.tell(l, bad)
				break
			}
			r.pass(ms)
		}
		want *= time.Second
		if took := r.now.Sub(opened); took > want || took < want*4/5 {
			t.Errorf("round %d: open for %v; want %v, less a fifth at most", round, took, want)
		}
	}
}

// A hundred breakers open at the same instant. Their probes do not come together.
func TestBreakersThatOpenTogetherDoNotProbeTogether(t *testing.T) {
	seen := map[unit.Instant]int{}
	for seed := range uint64(100) {
		r := newRig(t, byHalf)
		r.dice = chance.New(seed)
		r.calls(20, bad)
		for {
			if _, ok := r.admit(r.now, &r.dice); ok {
				break
			}
			r.pass(ms)
		}
		seen[r.now]++
	}
	if len(seen) < 50 {
		t.Errorf("100 breakers probe at %d instants", len(seen))
	}
}

// What comes back after a trip during recovery has not been away for a moment: it
// stays open longer, and recovers over the whole outage.
func TestARelapseIsPartOfTheSameOutage(t *testing.T) {
	r := newRig(t, Breaker{Failures: 50, OpenFor: time.Second, OpenMax: 8 * time.Second})
	r.trip()
	began := r.since
	r.tell(r.ask(true), good)
	r.is(Recovering)
	for range 1000 {
		if l, ok := r.admit(r.now, &r.dice); ok {
			r.tell(l, bad)
		}
	}
	r.is(Open)
	if _, until := r.state(r.now); until.Sub(r.now) < 1600*ms || r.since != began {
		t.Errorf("open for %v since %v; want about 2 s, since %v", until.Sub(r.now), r.since, began)
	}
}

// A minute's outage at 5,000 calls a second: 95 % are admitted within 15 s after
// its end, however many were refused, and those of the first second are a few.
func TestAMinutesOutageIsOverWithinAQuarter(t *testing.T) {
	for _, rate := range []int{50, 5000, 20_000} {
		r := newRig(t, byHalf)
		step := time.Second / time.Duration(rate)
		var offered, admitted [90]int
		for r.now < at(90*time.Second) {
			s := int(r.now / unit.Instant(time.Second))
			v := good
			if s >= 10 && s < 70 {
				v = bad
			}
			offered[s]++
			if l, ok := r.admit(r.now, &r.dice); ok {
				admitted[s]++
				r.tell(l, v)
			}
			r.pass(step)
		}
		share := func(s int) float64 { return float64(admitted[s]) / float64(offered[s]) }
		sent := 0
		for s := 16; s < 70; s++ { // half a window of failures has opened it
			sent += admitted[s]
		}
		if sent > 60 {
			t.Errorf("%d/s: %d calls were sent into the outage", rate, sent)
		}
		for s := 85; s < 90; s++ {
			if share(s) < 0.95 {
				t.Errorf("%d/s: %.0f %% admitted %d s after its end", rate, share(s)*100, s-70)
			}
		}
		first := 70
		for share(first) < 0.05 {
			first++
		}
		if share(first) > 0.3 || share(first+2) <= share(first) {
			t.Errorf("%d/s: %.2f, then %.2f, then %.2f: want it to grow from little", rate, share(first), share(first+1), share(first+2))
		}
	}
}

// An outage of a second is not followed by eight of caution.
func TestRecoveryIsInProportionToTheOutage(t *testing.T) {
	for _, c := range []struct{ outage, most time.Duration }{
		{time.Second, 900 * ms}, {4 * time.Second, 2500 * ms}, {60 * time.Second, RecoverMax}, {time.Hour, RecoverMax},
	} {
		r := newRig(t, byHalf)
		r.calls(20, bad)
		end := r.now.Add(c.outage)
		for {
			if l, ok := r.admit(r.now, &r.dice); ok && r.now < end {
				r.tell(l, bad)
			} else if ok {
				r.tell(l, good)
				break
			}
			r.pass(ms)
		}
		r.is(Recovering)
		if _, until := r.state(r.now); until.Sub(r.now) > c.most || until.Sub(r.now) < c.most/4 {
			t.Errorf("an outage of %v is followed by %v of recovery; want at most %v", c.outage, until.Sub(r.now), c.most)
		}
	}
}

func TestAReloadKeepsTheState(t *testing.T) {
	r := newRig(t, byHalf)
	r.calls(20, bad)
	for range 100 {
		r.set(byHalf)
	}
	r.ask(false)
	r.set(Breaker{})
	r.ask(true) // it is switched off
	r.set(byHalf)
	r.calls(19, bad)
	r.pass(11 * time.Second)
	r.calls(10, bad)
	r.set(Breaker{Failures: 50, MinCalls: 11})
	r.calls(1, bad)
	r.is(Open)
}

// Whatever is asked and told, and in whatever order: no more probes than
// permitted, and within OpenMax and ProbeTimeout somebody is admitted.
func TestABreakerIsNeverWedged(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := Breaker{
			Failures: float64(rapid.IntRange(0, 100).Draw(t, "failures")), Consecutive: rapid.IntRange(1, 5).Draw(t, "row"),
			Slow: float64(rapid.IntRange(0, 100).Draw(t, "slow")), SlowAfter: 10 * ms,
			MinCalls: rapid.IntRange(1, 10).Draw(t, "calls"), Probes: rapid.IntRange(1, 4).Draw(t, "probes"),
		}
		b, dice := newBreaker(c), chance.New(1)
		var now, refused unit.Instant
		refused = unit.Never
		var held []lease
		for range 300 {
			switch what := rapid.IntRange(0, 9).Draw(t, "what"); {
			case what < 5:
				l, ok := b.admit(now, &dice)
				if ok {
					held = append(held, l)
					refused = unit.Never
				} else {
					refused = min(refused, now)
					if b.phase == HalfOpen && b.opens(now) <= now {
						t.Fatal("refused, and could admit now")
					}
				}
				if wait := now.Sub(refused); refused != unit.Never && wait > OpenMaxDefault+ProbeTimeoutDefault {
					t.Fatalf("nobody was admitted for %v", wait)
				}
			case what < 8 && len(held) > 0:
				i := rapid.IntRange(0, len(held)-1).Draw(t, "which")
				took := time.Duration(rapid.IntRange(0, 20).Draw(t, "took")) * ms
				b.report(now, held[i], verdict(rapid.IntRange(0, 2).Draw(t, "verdict")), took)
				held = append(held[:i], held[i+1:]...)
			default:
				now = now.Add(time.Duration(rapid.IntRange(0, 3000).Draw(t, "pass")) * ms)
			}
			probes := 0
			for _, p := range b.probes {
				if p.until > now {
					probes++
				}
			}
			if probes > c.Probes {
				t.Fatalf("%d probes; %d are permitted", probes, c.Probes)
			}
		}
	})
}
