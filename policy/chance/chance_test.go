package chance

import (
	"math"
	"testing"
)

// The first draws of the reference implementation with the same seed (Vigna,
// splitmix64.c): one seed gives the same numbers everywhere, for ever.
func TestReferenceDraws(t *testing.T) {
	s := New(1234567)
	for i, want := range []uint64{6457827717110365317, 3203168211198807973, 9817491932198370423, 4593380528125082431, 16408922859458223821} {
		if got := s.Uint64(); got != want {
			t.Errorf("draw %d is %d, want %d", i, got, want)
		}
	}
}

func TestBelowStaysBelowAndIsEven(t *testing.T) {
	s := New(7)
	for _, n := range []int64{math.MinInt64, -1, 0} {
		if d := s.Below(n); d != 0 {
			t.Errorf("below %d: %d", n, d)
		}
	}
	for _, n := range []int64{1, 2, 10, math.MaxInt64} {
		var low int
		for range 10_000 {
			d := s.Below(n)
			if d < 0 || d >= n {
				t.Fatalf("below %d: %d", n, d)
			}
			if d < n/2 {
				low++
			}
		}
		// 6 standard deviations of a fair coin thrown 10,000 times.
		if n > 1 && (low < 4700 || low > 5300) {
			t.Errorf("below %d: %d of 10,000 draws in the lower half", n, low)
		}
	}
}
