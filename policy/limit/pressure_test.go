package limit

import (
	"math"
	"testing"
	"time"

	"github.com/spillway-dev/spillway/policy/unit"
	"pgregory.net/rapid"
)

func TestALimitGivesWayToPressure(t *testing.T) {
	var p Pressure
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
		p.Told(now, c.level)
		if got := p.Of(100); got != c.want || math.Abs(p.Given()-float64(100-c.want)/100) > 0.005 {
			t.Errorf("step %d, pressure %v: %d, want %d", i, c.level, got, c.want)
		}
	}
}

func TestPressureThatIsToldMoreOftenHurriesNothing(t *testing.T) {
	var p Pressure
	for i := range 400 {
		p.Told(unit.Instant(i)*unit.Instant(time.Millisecond), 2)
	}
	if got := p.Of(100); got != 50 {
		t.Errorf("%d after 0.4 s, want one step", got)
	}
}

func TestPressureThatIsNotToldAnyMoreIsForgotten(t *testing.T) {
	var p Pressure
	if p.Lapses() != unit.Never {
		t.Errorf("what gives nothing away is forgotten at %v", p.Lapses())
	}
	p.Told(unit.Instant(time.Second), 2)
	if at := p.Lapses(); at != unit.Instant(time.Second+PressureHeld) {
		t.Errorf("it is forgotten at %v", at)
	}
	if p.Lapse(); p.Of(100) != 100 || p.Lapses() != unit.Never {
		t.Errorf("%d of 100, until %v", p.Of(100), p.Lapses())
	}
}

// Whatever is told, the limit is between 1 and what the law under it says.
func TestPressureNeverRaisesALimit(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		limit := rapid.IntRange(1, 1000).Draw(t, "limit")
		var p Pressure
		now := unit.Instant(0)
		for range 100 {
			now = now.Add(time.Duration(rapid.Int64Range(-1e9, 3e9).Draw(t, "step")))
			p.Told(now, rapid.Float64().Draw(t, "level"))
			if got := p.Of(limit); got < 1 || got > limit {
				t.Fatalf("%d of %d", got, limit)
			}
		}
	})
}
