package sim

import (
	"fmt"
	"testing"
	"time"

	"github.com/spillway-dev/spillway/policy/reason"
	"github.com/spillway-dev/spillway/policy/unit"
	"github.com/spillway-dev/spillway/workload"
	"github.com/spillway-dev/spillway/workload/dice"
)

func TestAnAttemptGivenBackIsAnotherLife(t *testing.T) {
	var a arena
	i := a.take()
	p := a.at(i)
	life := p.life
	p.number = 7
	a.give(i)
	if a.take() != i || a.at(i).life == life || a.at(i).number != 0 {
		t.Errorf("after giving it back: %+v", *a.at(i))
	}
}

func TestUpstreamEnds(t *testing.T) {
	ms := time.Millisecond
	for _, c := range []struct {
		conditions    string
		failIn        time.Duration
		start         time.Duration
		service, ends time.Duration
		fails         bool
	}{
		{"", 0, 5 * ms, 10 * ms, 15 * ms, false},
		{"x3@10ms+30ms", 0, 0, 10 * ms, 10 * ms, false},                   // ends as the slow time begins
		{"x3@10ms+30ms", 0, 5 * ms, 10 * ms, 25 * ms, false},              // half of it slowed
		{"outage@10ms+30ms", 0, 5 * ms, 10 * ms, 45 * ms, false},          // stands still
		{"outage@10ms+30ms", 2 * ms, 5 * ms, 10 * ms, 10 * ms, true},      // breaks off as it begins
		{"outage@10ms+30ms", 2 * ms, 20 * ms, 10 * ms, 22 * ms, true},     // fails at once, in 2 ms
		{"outage@10ms+30ms", 2 * ms, 40 * ms, 10 * ms, 50 * ms, false},    // it is over
		{"x2@0s+4ms,outage@10ms+1ms", 2 * ms, 0, 9 * ms, 10 * ms, true},   // 4 ms do 2, 6 more do 6: 1 is missing
		{"x2@0s+4ms,outage@10ms+1ms", 2 * ms, 0, 8 * ms, 10 * ms, false},  // just made it
		{"x2@0s+4ms,outage@10ms+1ms", 0, 0, 9 * ms, 12 * ms, false},       // waits it out
		{"x0.5@0s+100ms,outage@200ms+1ms", 1, 0, 90 * ms, 45 * ms, false}, // twice as fast
	} {
		name := fmt.Sprintf("%s, fail in %v, %v from %v", c.conditions, c.failIn, c.service, c.start)
		conditions, err := workload.ParseConditions(c.conditions)
		if err != nil {
			t.Fatal(err)
		}
		u := upstream{Upstream: Upstream{Conditions: conditions, FailIn: c.failIn}}
		at, fails := u.ends(unit.Instant(c.start), c.service, 0)
		if at != unit.Instant(c.ends) || fails != c.fails {
			t.Errorf("%s: ends at %v, fails %v; want %v, %v", name, at, fails, c.ends, c.fails)
		}
	}
}

func TestPauses(t *testing.T) {
	ms := time.Millisecond
	for _, c := range []struct {
		name string
		Backoff
		want []time.Duration // before the first, second, ... retry
	}{
		{"at once", Backoff{}, []time.Duration{0, 0, 0}},
		{"fixed", Backoff{Base: 10 * ms}, []time.Duration{10 * ms, 10 * ms, 10 * ms}},
		{"exponential", Backoff{Base: 10 * ms, Exponential: true}, []time.Duration{10 * ms, 20 * ms, 40 * ms}},
		{"capped", Backoff{Base: 10 * ms, Exponential: true, Max: 25 * ms}, []time.Duration{10 * ms, 20 * ms, 25 * ms}},
		{"cap below base", Backoff{Base: 10 * ms, Exponential: true, Max: 5 * ms}, []time.Duration{5 * ms, 5 * ms}},
	} {
		for i, want := range c.want {
			if got := c.pause(i+1, dice.New(1, "")); got != want {
				t.Errorf("%s: %v before retry %d, want %v", c.name, got, i+1, want)
			}
		}
		c.FullJitter = true
		d := dice.New(1, "jitter")
		var sum time.Duration
		for range 1000 {
			got := c.pause(2, d)
			if got < 0 || got > c.want[1] {
				t.Fatalf("%s with full jitter: %v, more than %v", c.name, got, c.want[1])
			}
			sum += got
		}
		if mean := sum / 1000; (mean - c.want[1]/2).Abs() > c.want[1]/20 {
			t.Errorf("%s with full jitter: %v on average, want %v", c.name, mean, c.want[1]/2)
		}
	}
	if got := (Backoff{Base: time.Second, Exponential: true}).pause(retriesMax, dice.New(1, "")); got != time.Hour {
		t.Errorf("the last retry of all waits %v, want an hour at most", got)
	}
}

func TestBudgetIsATokenBucket(t *testing.T) {
	takes := func(b *bucket, now unit.Instant) (n int) {
		for n < 1000 && b.take(now) {
			n++
		}
		return n
	}
	b := newBucket(Budget{Share: 0.1, Burst: 3})
	if got := takes(&b, 0); got != 3 {
		t.Errorf("%d retries at the start, want the burst of 3", got)
	}
	for range 25 {
		b.earn()
	}
	if got := takes(&b, 0); got != 2 {
		t.Errorf("%d retries after 25 requests at 10 %%, want 2", got)
	}
	for range 1000 {
		b.earn()
	}
	if got := takes(&b, 0); got != 3 {
		t.Errorf("%d retries after a long rest, want the burst of 3", got)
	}
	b = newBucket(Budget{PerSecond: 2, Burst: 5})
	takes(&b, 0)
	if got := takes(&b, unit.Instant(2*time.Second)); got != 4 {
		t.Errorf("%d retries after 2 s at 2/s, want 4", got)
	}
	b = newBucket(Budget{})
	if got := takes(&b, 0); got != 1000 {
		t.Errorf("%d retries without a limit", got)
	}
}

func TestWhatIsTriedAgain(t *testing.T) {
	for _, c := range []struct {
		why          reason.Reason
		plain, obeys bool
	}{
		{reason.Served, false, false}, {reason.BadRequest, false, false},
		{reason.QueueFull, true, true}, {reason.Timeout, true, true}, {reason.CallerGone, true, true}, {reason.TenantFull, true, true},
		{reason.Dropped, true, false}, {reason.Unknown, true, false},
	} {
		plain, obeys := Callers{}, Callers{HonourRetryAfter: true}
		if plain.wants(c.why) != c.plain || obeys.wants(c.why) != c.obeys {
			t.Errorf("after %v: %v, and %v where hints are honoured; want %v, %v", c.why, plain.wants(c.why), obeys.wants(c.why), c.plain, c.obeys)
		}
	}
}
