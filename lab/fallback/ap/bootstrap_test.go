package ap

import (
	"math"
	"slices"
	"testing"

	"github.com/spillway-dev/spillway/workload/dice"
	"pgregory.net/rapid"
)

// of returns how often each customer is in resample i.
func (s *resamples) of(i int) []uint8 {
	times := make([]uint8, len(s.times))
	for c, words := range s.times {
		if words != nil {
			times[c] = uint8(words[i/lanes] >> (i % lanes * 8))
		}
	}
	return times
}

// Counting all resamples at once gives what counting each by itself does.
func TestAllAtOnceIsEachByItself(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var rs rankings
		customers := 0
		for range rapid.IntRange(1, 3).Draw(t, "cutoffs") {
			scores, buys := drawRows(t)
			rs = append(rs, one(scores, buys))
			customers = max(customers, len(scores))
		}
		s := draw(rapid.Uint64().Draw(t, "seed"), rapid.IntRange(1, 40).Draw(t, "resamples"), customers, rs)
		// Bytes fill sooner than chance would let them.
		if rapid.Bool().Draw(t, "often") {
			c := rapid.IntRange(0, customers-1).Draw(t, "customer")
			for i := range s.times[c] {
				s.times[c][i] = ^uint64(0)
			}
			s.most = 255
		}
		for i, got := range rs.over(s) {
			if want, _ := rs.precision(s.of(i)); math.Abs(got-want) > 1e-12 {
				t.Fatalf("resample %d: %v at once, %v by itself", i, got, want)
			}
		}
	})
}

func TestResamplesAreDrawsWithReplacement(t *testing.T) {
	const customers, n = 400, 1000
	rs := rankings{one(make([]float64, customers), make([]bool, customers))}
	s := draw(1, n, customers, rs)
	var sum, squares float64
	for i := range n {
		total := 0
		for _, k := range s.of(i) {
			total += int(k)
			sum += float64(k)
			squares += float64(k) * float64(k)
		}
		if total != customers {
			t.Fatalf("resample %d has %d customers, want %d", i, total, customers)
		}
	}
	mean := sum / n / customers
	if variance := squares/n/customers - mean*mean; math.Abs(variance-(1-1.0/customers)) > 0.01 {
		t.Errorf("a customer is drawn with a variance of %v, want the binomial's, %v", variance, 1-1.0/customers)
	}
	if again := draw(1, n, customers, rs); !slices.EqualFunc(s.times, again.times, slices.Equal) {
		t.Error("the same seed draws other resamples")
	}
	if other := draw(2, n, customers, rs); slices.EqualFunc(s.times, other.times, slices.Equal) {
		t.Error("another seed draws the same resamples")
	}
}

// A customer who is at no cutoff is not drawn in the place of one who is.
func TestOnlyWhoIsRankedIsDrawn(t *testing.T) {
	s := draw(1, 8, 10, rankings{rank([]int{3, 7}, []bool{true, false}, []float64{1, 2})})
	for i := range 8 {
		if times := s.of(i); times[3]+times[7] != 2 {
			t.Errorf("resample %d is %v: want two draws from customers 3 and 7", i, times)
		}
	}
}

// The average precision of customers who are all tied is the share of buyers, so
// that its distribution is known: that of a binomial proportion.
func TestTheRangeOfAKnownDistribution(t *testing.T) {
	const customers, buyers = 1000, 300
	buys := make([]bool, customers)
	for i := range buyers {
		buys[i] = true
	}
	rs := rankings{one(make([]float64, customers), buys)}
	low, high := middle(rs.over(draw(1, 2000, customers, rs)))
	share := float64(buyers) / customers
	half := 1.96 * math.Sqrt(share*(1-share)/customers)
	if math.Abs(low-(share-half)) > 0.1*half || math.Abs(high-(share+half)) > 0.1*half {
		t.Errorf("95 %% range %.4f to %.4f, want %.4f to %.4f", low, high, share-half, share+half)
	}
}

// The range of a difference is that of the pairs, not of two independent
// figures: where nothing differs it is nothing.
func TestTheBootstrapIsPaired(t *testing.T) {
	d := dice.New(1, "test")
	scores, buys := make([]float64, 300), make([]bool, 300)
	for i := range scores {
		scores[i] = d.Float64()
		buys[i] = d.Bool(scores[i])
	}
	rs := rankings{one(scores, buys)}
	s := draw(1, 200, len(scores), rs)
	a, b := rs.over(s), rankings{one(scores, buys)}.over(s)
	for i := range a {
		a[i] -= b[i]
	}
	if low, high := middle(a); low != 0 || high != 0 {
		t.Errorf("a ranking differs from itself by %v to %v", low, high)
	}
}

func TestMiddle(t *testing.T) {
	values := make([]float64, 1001)
	for i := range values {
		values[len(values)-1-i] = float64(i)
	}
	if low, high := middle(values); !near(low, 25) || !near(high, 975) {
		t.Errorf("the middle of 0 to 1000 is %v to %v, want 25 to 975", low, high)
	}
	if low, high := middle([]float64{1, 3}); !near(low, 1.05) || !near(high, 2.95) {
		t.Errorf("the middle of 1 and 3 is %v to %v, want 1.05 to 2.95", low, high)
	}
	if low, high := middle([]float64{7}); low != 7 || high != 7 {
		t.Errorf("the middle of 7 is %v to %v", low, high)
	}
}
