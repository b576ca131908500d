package unit

import (
	"math"
	"math/big"
	"testing"
	"time"

	"pgregory.net/rapid"
)

const first = Instant(math.MinInt64)

func TestInstantsSaturate(t *testing.T) {
	for _, c := range []struct {
		at   Instant
		d    time.Duration
		want Instant
	}{
		{0, 5, 5},
		{Never, 1, Never},
		{Never - 3, 4, Never},
		{Never, -1, Never - 1},
		{first, -1, first},
		{first, math.MinInt64, first},
		{-1, math.MinInt64, first},
		{Never, math.MaxInt64, Never},
		{first, math.MaxInt64, -1},
	} {
		if got := c.at.Add(c.d); got != c.want {
			t.Errorf("%d + %d = %d, want %d", c.at, c.d, got, c.want)
		}
	}
}

// Add and Sub are the exact result, cut to what an int64 holds.
func TestAgreesWithExactArithmetic(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := rapid.Int64().Draw(t, "a"), rapid.Int64().Draw(t, "b")
		cut := func(x *big.Int) int64 {
			switch {
			case x.Cmp(big.NewInt(math.MaxInt64)) > 0:
				return math.MaxInt64
			case x.Cmp(big.NewInt(math.MinInt64)) < 0:
				return math.MinInt64
			}
			return x.Int64()
		}
		if got, want := Instant(a).Add(time.Duration(b)), cut(new(big.Int).Add(big.NewInt(a), big.NewInt(b))); int64(got) != want {
			t.Fatalf("%d + %d = %d, want %d", a, b, got, want)
		}
		if got, want := Instant(a).Sub(Instant(b)), cut(new(big.Int).Sub(big.NewInt(a), big.NewInt(b))); int64(got) != want {
			t.Fatalf("%d - %d = %d, want %d", a, b, got, want)
		}
	})
}

func TestInstantPrintsAsDuration(t *testing.T) {
	for at, want := range map[Instant]string{Never: "never", 0: "0s", Instant(1500 * time.Millisecond): "1.5s"} {
		if at.String() != want {
			t.Errorf("%d prints as %v, want %v", int64(at), at, want)
		}
	}
}

func TestCostIsClamped(t *testing.T) {
	for c, want := range map[Cost]Cost{math.MinInt64: 1, -1: 1, 0: 1, 1: 1, 7: 7, CostMax: CostMax, CostMax + 1: CostMax, math.MaxInt64: CostMax} {
		if c.Clamp() != want {
			t.Errorf("cost %d is clamped to %d, want %d", c, c.Clamp(), want)
		}
	}
}
