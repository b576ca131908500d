package call

import (
	"testing"
	"time"

	"github.com/spillway-dev/spillway/policy/unit"
)

// everything is a policy with each of its parts switched on.
func everything() Policy {
	return Policy{
		Timeout: 25 * time.Millisecond, Retries: 2,
		Backoff:  Backoff{Base: 5 * time.Millisecond, Max: 20 * time.Millisecond},
		Hedge:    Hedge{After: 10 * time.Millisecond, Percentile: 95},
		Breaker:  Breaker{Failures: 50, Slow: 50, SlowAfter: 20 * time.Millisecond, Window: 10 * time.Second},
		Throttle: Throttle{K: 2},
	}
}

// A call as most are: sent and answered. Three facts, no timer; what is left over
// is for a driver's lock and clock.
func BenchmarkCall(b *testing.B) {
	bare := Policy{Timeout: 25 * time.Millisecond}
	budget := bare
	budget.Retries = 2
	guarded := budget
	guarded.Breaker = everything().Breaker
	for _, arm := range []struct {
		name   string
		policy Policy
	}{{"bare", bare}, {"retries", budget}, {"retries+breaker", guarded}, {"everything", everything()}} {
		b.Run(arm.name, func(b *testing.B) {
			d := mustNew(b, arm.policy)
			var c Call
			r := Request{Deadline: unit.Never, Idempotent: true}
			b.ReportAllocs()
			for now := unit.Instant(0); b.Loop(); now += unit.Instant(20 * time.Microsecond) {
				s := d.Begin(now, &c, r)
				d.Sent(now, &c, s.Attempt)
				if s = d.Ended(now.Add(2*time.Millisecond), &c, s.Attempt, Outcome{}); s.Do != Answer {
					b.Fatal(s)
				}
			}
		})
	}
}

// A call that fails, pauses, and is answered at the second try, out of a budget
// that allows it.
func BenchmarkRetry(b *testing.B) {
	p := everything()
	p.Budget.Off, p.Breaker, p.Throttle = true, Breaker{}, Throttle{}
	d := mustNew(b, p)
	var c Call
	b.ReportAllocs()
	for now := unit.Instant(0); b.Loop(); now += unit.Instant(time.Millisecond) {
		s := d.Begin(now, &c, Request{Deadline: unit.Never, Idempotent: true})
		d.Sent(now, &c, s.Attempt)
		if s = d.Ended(now, &c, s.Attempt, Outcome{Result: Unsent}); s.Do == Nothing {
			s = d.Passed(s.Next, &c)
		}
		if s = d.Ended(now, &c, s.Attempt, Outcome{}); s.Do != Answer {
			b.Fatal(s)
		}
	}
}

func BenchmarkRefusedByBreaker(b *testing.B) {
	d := mustNew(b, Policy{Breaker: Breaker{Consecutive: 1, OpenFor: time.Hour, OpenMax: time.Hour}})
	var c Call
	d.Ended(0, &c, d.Begin(0, &c, Request{Deadline: unit.Never}).Attempt, Outcome{Result: Broken})
	b.ReportAllocs()
	for b.Loop() {
		if s := d.Begin(0, &c, Request{Deadline: unit.Never}); s.Do != GiveUp {
			b.Fatal(s)
		}
	}
}

func mustNew(t testing.TB, p Policy) *Dependency {
	t.Helper()
	d, err := New(p)
	if err != nil {
		t.Fatal(err)
	}
	return d
}
