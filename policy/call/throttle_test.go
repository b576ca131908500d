package call

import (
	"fmt"
	"testing"
	"time"

	"github.com/spillway-dev/spillway/policy/chance"
	"github.com/spillway-dev/spillway/policy/unit"
)

// backend does 1,000 requests a second and refuses what is more, which costs it
// a tenth of doing it. Its work is counted in tenths.
type backend struct{ room int }

func (b *backend) millisecond() { b.room = min(b.room+10, 100) }

func (b *backend) offered() verdict {
	if b.room >= 10 {
		b.room -= 10
		return good
	}
	b.room = max(b.room-1, -1000)
	return bad
}

// storm is a hundred clients in front of one backend. Demand is in multiples of
// what it can do.
type storm struct {
	throttles []throttle
	backend   backend
	dice      chance.Source
	now       unit.Instant
}

func newStorm(c Throttle) *storm {
	s := &storm{dice: chance.New(1)}
	for range 100 {
		s.throttles = append(s.throttles, newThrottle(c))
	}
	return s
}

// run passes so much time at the demand and returns what was asked, sent and done
// in a second. Answers take 20 ms.
func (s *storm) run(demand float64, d time.Duration) (asked, sent, done float64) {
	type answer struct {
		client int
		v      verdict
	}
	var under [20][]answer
	each := int64(demand * 10_000) // of a client in a millisecond, in millionths
	var n [3]int
	for ms := range int(d / time.Millisecond) {
		s.now = s.now.Add(time.Millisecond)
		s.backend.millisecond()
		due := &under[ms%len(under)]
		for _, a := range *due {
			s.throttles[a.client].report(s.now, a.v)
		}
		*due = (*due)[:0]
		for i := range s.throttles {
			if s.dice.Below(whole) >= each {
				continue
			}
			n[0]++
			if !s.throttles[i].admit(s.now, &s.dice) {
				continue
			}
			n[1]++
			v := s.backend.offered()
			if v == good {
				n[2]++
			}
			*due = append(*due, answer{i, v})
		}
	}
	per := func(i int) float64 { return float64(n[i]) / d.Seconds() }
	return per(0), per(1), per(2)
}

// papers: a lost share of capacity of (K-1) r / (1 + (K-1) r), however large the
// demand is, and nothing lost where there is no overload.
func TestWhatAThrottledBackendDoes(t *testing.T) {
	for _, c := range []struct{ k, demand, least float64 }{
		{0, 2, 880}, {0, 10, 0}, // unthrottled
		{1.1, 0.5, 495}, {1.1, 2, 930}, {1.1, 10, 960},
		{1.5, 0.5, 495}, {1.5, 2, 920}, {1.5, 10, 930},
		{2, 0.5, 495}, {2, 2, 890}, {2, 5, 890}, {2, 10, 900},
	} {
		t.Run(fmt.Sprintf("K %v demand %vx", c.k, c.demand), func(t *testing.T) {
			s := newStorm(Throttle{K: c.k})
			s.run(c.demand, 10*time.Second)
			asked, sent, done := s.run(c.demand, 20*time.Second)
			t.Logf("%.0f/s asked, %.0f sent, %.0f done", asked, sent, done)
			if done < c.least {
				t.Errorf("%.0f/s done; want %.0f at least", done, c.least)
			}
			if c.k == 0 && c.demand == 10 && done > 100 {
				t.Errorf("%.0f/s done without a throttle: then there is nothing to show", done)
			}
			if c.k > 0 && sent > 2.1*done {
				t.Errorf("%.0f/s sent for %.0f done; want twice that at most", sent, done)
			}
		})
	}
}

// Ten times the demand for half a minute, then half of it again.
func TestAThrottleRecoversInTenSeconds(t *testing.T) {
	for _, k := range []float64{1.1, 1.5, 2} {
		s := newStorm(Throttle{K: k})
		s.run(0.5, 10*time.Second)
		s.run(10, 30*time.Second)
		var took int
		for ; took < 60; took++ {
			if asked, _, done := s.run(0.5, time.Second); done > 0.99*asked {
				break
			}
		}
		t.Logf("K %v: %d s", k, took)
		if took >= 10 {
			t.Errorf("K %v: it took %d s until all is served again; want under 10", k, took)
		}
	}
}

// A minute's outage under one client's 50 to 20,000 calls a second: what was
// refused here while it lasted does not keep it from ending.
func TestRecoveryDoesNotDependOnHowMuchWasRefused(t *testing.T) {
	for _, rate := range []int{50, 500, 5000, 20_000} {
		th, dice := newThrottle(Throttle{K: 2}), chance.New(1)
		var offered, admitted [90]int
		for i := range 90 * rate {
			now := unit.Instant(i) * unit.Instant(time.Second) / unit.Instant(rate)
			s := i / rate
			offered[s]++
			if th.admit(now, &dice) {
				admitted[s]++
				v := good
				if s >= 10 && s < 70 {
					v = bad
				}
				th.report(now, v)
			}
		}
		sent := float64(admitted[60]) / float64(offered[60])
		if sent < 0.05 || sent > 0.2 {
			t.Errorf("%d/s: %.2f of calls are sent into the outage; want a tenth", rate, sent)
		}
		for s := 80; s < 90; s++ {
			if share := float64(admitted[s]) / float64(offered[s]); share < 0.95 {
				t.Errorf("%d/s: %.2f admitted %d s after its end", rate, share, s-70)
			}
		}
	}
}

// Three calls a minute, every other fails: nothing can be said of that.
func TestTinyRatesAreNotThrottled(t *testing.T) {
	th, dice := newThrottle(Throttle{K: 2}), chance.New(1)
	for i := range 3 * 60 * 24 {
		now := at(time.Duration(i) * 20 * time.Second)
		if !th.admit(now, &dice) {
			t.Fatalf("call %d is refused", i)
		}
		v := good
		if i%2 == 1 {
			v = bad
		}
		th.report(now, v)
	}
}

func TestAShareIsAlwaysSentToFindOut(t *testing.T) {
	th, dice := newThrottle(Throttle{K: 2}), chance.New(1)
	sent := 0
	for i := range 100_000 {
		now := at(time.Duration(i) * time.Millisecond)
		if th.admit(now, &dice) {
			sent++
			th.report(now, bad)
		}
	}
	if sent < 9_500 || sent > 10_600 {
		t.Errorf("%d of 100,000 were sent to a dependency that is gone; want a tenth", sent)
	}
	if got := th.share(at(100 * time.Second)); got != 0.9 {
		t.Errorf("share refused %v, want 0.9", got)
	}
}

// A thousand calls in one instant after a quiet time, and a few of them fail at
// once: those that are under way are not refused calls.
func TestABurstUnderWayIsNoSignOfTrouble(t *testing.T) {
	th, dice := newThrottle(Throttle{K: 2}), chance.New(1)
	for i := range 1000 {
		if !th.admit(at(time.Hour), &dice) {
			t.Fatalf("call %d is refused", i)
		}
		switch {
		case i%50 == 0:
			th.report(at(time.Hour), bad)
		case i%10 == 0:
			th.report(at(time.Hour), good)
		}
	}
}

// Every other client leaves early, which says nothing. Neither does that make a
// dependency out to be overloaded, nor keep it from coming back.
func TestWhoLeavesEarlySaysNothing(t *testing.T) {
	for _, k := range []float64{1.1, 2} {
		th, dice := newThrottle(Throttle{K: k}), chance.New(1)
		var admitted [40]int
		for i := range 40_000 {
			now, s := at(time.Duration(i)*time.Millisecond), i/1000
			if !th.admit(now, &dice) {
				continue
			}
			admitted[s]++
			switch {
			case dice.Below(2) == 0:
				th.report(now, neutral)
			case s >= 10 && s < 20:
				th.report(now, bad)
			default:
				th.report(now, good)
			}
		}
		for s, n := range admitted {
			if s < 10 && n < 1000 || s > 15 && s < 20 && n > 150 || s >= 30 && n < 950 {
				t.Errorf("K %v: %d of 1,000 admitted in second %d; the outage is from 10 to 20", k, n, s)
			}
		}
	}
}

// A call in fifty fails on an ordinary day. That keeps nobody from coming back.
func TestOrdinaryFailuresDoNotKeepAThrottleShut(t *testing.T) {
	for _, k := range []float64{1.1, 1.5, 2} {
		th, dice := newThrottle(Throttle{K: k}), chance.New(1)
		var admitted [40]int
		for i := range 40 * 600 {
			now, s := at(time.Duration(i)*time.Second/600), i/600
			if !th.admit(now, &dice) {
				continue
			}
			admitted[s]++
			v := good
			if s >= 10 && s < 20 || dice.Below(50) == 0 {
				v = bad
			}
			th.report(now, v)
		}
		for s, n := range admitted {
			if s < 10 && n < 590 || s >= 30 && n < 570 {
				t.Errorf("K %v: %d of 600 admitted in second %d; the outage is from 10 to 20", k, n, s)
			}
		}
	}
}

func TestAReloadKeepsWhatAThrottleHasSeen(t *testing.T) {
	th, dice := newThrottle(Throttle{K: 2}), chance.New(1)
	for range 100 {
		if th.admit(0, &dice) {
			th.report(0, bad)
		}
	}
	before := th.share(0)
	th.set(Throttle{K: 2})
	if got := th.share(0); got != before || got < 0.8 {
		t.Errorf("share refused %v after a reload, %v before", got, before)
	}
	th.set(Throttle{})
	for range 100 {
		if !th.admit(0, &dice) {
			t.Fatal("refused although it is off")
		}
	}
}
