package call

import (
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/spillway-dev/spillway/policy/chance"
)

const ms = time.Millisecond

func TestPauses(t *testing.T) {
	const n = 20_000
	for _, c := range []struct {
		name string
		Backoff
		retry       int
		before      time.Duration
		least, most time.Duration
	}{
		{"none", Backoff{}, 1, 0, 0, 0},
		{"none, however often", Backoff{Jitter: Decorrelated}, 100, time.Second, 0, 0},
		{"fixed", Backoff{Base: 10 * ms, Max: 10 * ms, Jitter: NoJitter}, 7, 0, 10 * ms, 10 * ms},
		{"exponential, first", Backoff{Base: 10 * ms, Jitter: NoJitter}, 1, 0, 10 * ms, 10 * ms},
		{"exponential, second", Backoff{Base: 10 * ms, Jitter: NoJitter}, 2, 0, 20 * ms, 20 * ms},
		{"exponential, fifth", Backoff{Base: 10 * ms, Jitter: NoJitter}, 5, 0, 160 * ms, 160 * ms},
		{"exponential, capped", Backoff{Base: 10 * ms, Max: 100 * ms, Jitter: NoJitter}, 5, 0, 100 * ms, 100 * ms},
		{"full", Backoff{Base: 10 * ms}, 2, 0, 0, 20 * ms},
		{"full, capped", Backoff{Base: 10 * ms, Max: 15 * ms}, 9, 0, 0, 15 * ms},
		{"equal", Backoff{Base: 10 * ms, Jitter: Equal}, 2, 0, 10 * ms, 20 * ms},
		{"decorrelated, first", Backoff{Base: 10 * ms, Jitter: Decorrelated}, 1, 0, 10 * ms, 30 * ms},
		{"decorrelated, then", Backoff{Base: 10 * ms, Jitter: Decorrelated}, 5, 20 * ms, 10 * ms, 60 * ms},
		{"decorrelated, capped", Backoff{Base: 10 * ms, Max: 50 * ms, Jitter: Decorrelated}, 5, 40 * ms, 10 * ms, 50 * ms},
	} {
		dice := chance.New(1)
		low, high, sum := time.Duration(math.MaxInt64), time.Duration(0), time.Duration(0)
		for range n {
			d := c.pause(c.retry, c.before, &dice)
			low, high, sum = min(low, d), max(high, d), sum+d
		}
		slack := (c.most - c.least) / 1000
		if low < c.least || low > c.least+slack || high > c.most || high < c.most-slack {
			t.Errorf("%s: %v to %v; want %v to %v", c.name, low, high, c.least, c.most)
		}
		if mean, want := sum/n, (c.least+c.most)/2; mean < want-want/50 || mean > want+want/50 {
			t.Errorf("%s: mean %v; want about %v: it is uniform", c.name, mean, want)
		}
	}
}

// 100 retries of the largest base overflow nothing.
func TestNoPauseIsNegativeOrAboveItsCap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := Backoff{
			Base:   time.Duration(rapid.Int64().Draw(t, "base")),
			Max:    time.Duration(rapid.Int64().Draw(t, "max")),
			Jitter: Jitter(rapid.IntRange(0, int(NoJitter)).Draw(t, "jitter")),
		}
		dice := chance.New(rapid.Uint64().Draw(t, "seed"))
		var before time.Duration
		for n := 1; n <= RetriesMax; n++ {
			before = b.pause(n, before, &dice)
			if before < 0 || b.Max > 0 && before > b.Max {
				t.Fatalf("retry %d pauses %v", n, before)
			}
		}
	})
}
