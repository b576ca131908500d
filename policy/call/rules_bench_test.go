package call

import (
	"net/http"
	"testing"
	"time"

	"github.com/spillway-dev/spillway/policy/chance"
	"github.com/spillway-dev/spillway/policy/unit"
)

// What each rule costs a call. A millionth of a second passes between two.
func BenchmarkRules(b *testing.B) {
	bench := func(name string, f func(now unit.Instant)) {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			var now unit.Instant
			for b.Loop() {
				now += 1000
				f(now)
			}
		})
	}
	dice := chance.New(1)

	share := newBudget(Budget{Percent: 10, Floor: 3})
	bench("budget, a first attempt", share.began)
	bench("budget, a retry reserved and sent", func(now unit.Instant) {
		share.began(now)
		if share.reserve(now) {
			share.spend(now)
		}
	})
	tokens := newBudget(Budget{Percent: 10, Tokens: 10})
	bench("budget, tokens", func(now unit.Instant) {
		tokens.answered()
		if tokens.reserve(now) {
			tokens.spend(now)
		}
	})

	backoff := Backoff{Base: ms, Max: time.Second}
	bench("backoff, full jitter", func(now unit.Instant) { backoff.pause(int(now>>12)%10, 0, &dice) })

	off := newBreaker(Breaker{})
	bench("breaker, off", func(now unit.Instant) {
		l, _ := off.admit(now, &dice)
		off.report(now, l, good, ms)
	})
	rules := Breaker{Failures: 50, Slow: 50, SlowAfter: time.Second, Consecutive: 10}
	closed := newBreaker(rules)
	bench("breaker, closed", func(now unit.Instant) {
		l, _ := closed.admit(now, &dice)
		closed.report(now, l, good, ms)
	})
	failing := newBreaker(Breaker{Failures: 100})
	bench("breaker, every other fails", func(now unit.Instant) {
		l, _ := failing.admit(now, &dice)
		failing.report(now, l, good+verdict(now/1000%2), ms)
	})
	open := newBreaker(Breaker{Consecutive: 1, OpenFor: time.Hour})
	l, _ := open.admit(0, &dice)
	open.report(0, l, bad, ms)
	bench("breaker, open", func(now unit.Instant) { open.admit(now%unit.Instant(time.Minute), &dice) })

	calm := newThrottle(Throttle{K: 2})
	bench("throttle, nothing fails", func(now unit.Instant) {
		calm.admit(now, &dice)
		calm.report(now, good)
	})
	busy := newThrottle(Throttle{K: 2})
	bench("throttle, most fails", func(now unit.Instant) {
		if busy.admit(now, &dice) {
			busy.report(now, good+verdict(min(now/1000%5, 1)))
		}
	})

	none := http.Header{}
	bench("pushback, none", func(unit.Instant) { ReadPushback(none.Get, wall) })
	said := http.Header{"Retry-After-Ms": {"1500"}}
	bench("pushback, milliseconds", func(unit.Instant) { ReadPushback(said.Get, wall) })
	resets := http.Header{
		"X-Ratelimit-Remaining-Requests": {"0"}, "X-Ratelimit-Reset-Requests": {"2m59.56s"},
		"X-Ratelimit-Remaining-Tokens": {"0"}, "X-Ratelimit-Reset-Tokens": {"6m0s"},
	}
	bench("pushback, two resets", func(unit.Instant) { ReadPushback(resets.Get, wall) })
}

func TestNoRuleAllocates(t *testing.T) {
	b := newBudget(Budget{Percent: 10, Floor: 3})
	br := newBreaker(Breaker{Failures: 50, Slow: 50, SlowAfter: ms, Consecutive: 3, OpenFor: ms})
	th := newThrottle(Throttle{K: 2, Window: 100 * ms})
	back := Backoff{Base: ms}
	dice := chance.New(1)
	h := http.Header{"X-Ratelimit-Remaining-Requests": {"0"}, "X-Ratelimit-Reset-Requests": {"2m59.56s"}}
	get := h.Get
	var now unit.Instant
	if n := testing.AllocsPerRun(10_000, func() {
		now += unit.Instant(back.pause(1, 0, &dice))
		b.began(now)
		if b.reserve(now) {
			b.spend(now)
		}
		l, ok := br.admit(now, &dice)
		if ok && th.admit(now, &dice) {
			v := good + verdict(dice.Below(2))
			br.report(now, l, v, ms)
			th.report(now, v)
		}
		ReadPushback(get, wall)
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
