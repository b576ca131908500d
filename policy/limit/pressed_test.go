package limit

import (
	"math"
	"testing"
	"time"

	"github.com/spillway-dev/spillway/policy/reason"
	"github.com/spillway-dev/spillway/policy/unit"
	"pgregory.net/rapid"
)

func TestALimitGivesWayToPressure(t *testing.T) {
	p := &Pressed{Limiter: Fixed(100)}
	now := unit.Instant(0)
	for i, c := range []struct {
		level float64
		want  int
	}{
		{0.5, 100},
		{1, 100},   // allowed
		{1.25, 80}, // by as much as it exceeds
		{0.95, 80}, // neither short nor at ease
		{10, 40},   // to a half at a time
		{10, 20},   //
		{1000, 10}, //
		{1000, 5},  // no further
		{1000, 5},  //
		{0.2, 15},  // and back
		{-1, 25},   // not known any more
		{math.NaN(), 35},
		{0.89, 45},
	} {
		now = now.Add(time.Second)
		p.Press(now, c.level)
		if got := p.Limit(); got != c.want || p.State().Limit != c.want {
			t.Errorf("step %d, pressure %v: %d, want %d", i, c.level, got, c.want)
		}
	}
}

func TestPressureThatIsToldMoreOftenHurriesNothing(t *testing.T) {
	p := &Pressed{Limiter: Fixed(100)}
	for i := range 400 {
		p.Press(unit.Instant(i)*unit.Instant(time.Millisecond), 2)
	}
	if got := p.Limit(); got != 50 {
		t.Errorf("%d after 0.4 s, want one step", got)
	}
}

// A driver that has died does not hold the limit down for ever.
func TestPressureThatIsNotToldAnyMoreIsForgotten(t *testing.T) {
	p := &Pressed{Limiter: Fixed(100)}
	p.Press(1, 2)
	for _, c := range []struct {
		at   time.Duration
		want int
	}{{5 * time.Second, 50}, {11 * time.Second, 100}} {
		p.Ended(unit.Instant(c.at), Sample{Held: time.Millisecond, Running: 1, Outcome: reason.Served})
		if got := p.Limit(); got != c.want {
			t.Errorf("after %v: %d, want %d", c.at, got, c.want)
		}
	}
}

// Whatever is told, the limit is between 1 and what the law under it says.
func TestPressureNeverRaisesALimit(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		limit := rapid.IntRange(1, 1000).Draw(t, "limit")
		p := &Pressed{Limiter: Fixed(limit)}
		now := unit.Instant(0)
		for range 100 {
			now = now.Add(time.Duration(rapid.Int64Range(-1e9, 3e9).Draw(t, "step")))
			p.Press(now, rapid.Float64().Draw(t, "level"))
			if got := p.Limit(); got < 1 || got > limit {
				t.Fatalf("%d of %d", got, limit)
			}
		}
	})
}
