package limit

import (
	"math"
	"testing"

	"github.com/spillway-dev/spillway/policy/reason"
)

func TestFixedIsMovedByNothing(t *testing.T) {
	for figure, want := range map[Fixed]int{math.MinInt: 1, -1: 1, 0: 1, 1: 1, 40: 40} {
		var l Limiter = figure
		for _, why := range reason.All() {
			l.Ended(5, Sample{Held: math.MaxInt64, Running: 100, Outcome: why})
		}
		if l.Limit() != want {
			t.Errorf("fixed at %d: %d", int(figure), l.Limit())
		}
	}
}

// A law of somebody else's stands where ours do, and nothing is taken for one by chance.
func TestALimiterOfOnesOwn(t *testing.T) {
	var given Config
	maker := &Maker{New: func(c Config) Limiter { given = c; return Fixed(c.Start) }}
	if got := New(Config{Law: Foreign, Maker: maker, Ceiling: 50}); got.Limit() != StartDefault || given.Floor != 1 || given.Ceiling != 50 {
		t.Errorf("a limit of %d, made of %+v", got.Limit(), given)
	}
	for _, tt := range []struct {
		c  Config
		ok bool
	}{
		{Config{Law: Foreign, Maker: maker}, true},
		{Config{Law: Knee}, true},
		{Config{Law: Foreign}, false},
		{Config{Law: Foreign, Maker: &Maker{}}, false},
		{Config{Law: Knee, Maker: maker}, false},
		{Config{Law: Foreign + 1}, false},
	} {
		if err := tt.c.Validate(); (err == nil) != tt.ok {
			t.Errorf("%+v: %v", tt.c, err)
		}
	}
}
