package ap

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// one ranks rows that are a customer each.
func one(scores []float64, buys []bool) ranking {
	customers := make([]int, len(scores))
	for i := range customers {
		customers[i] = i
	}
	return rank(customers, buys, scores)
}

func near(a, b float64) bool { return math.Abs(a-b) <= 1e-12 }

func TestAveragePrecisionByHand(t *testing.T) {
	for name, c := range map[string]struct {
		scores []float64
		buys   []int // customers who buy
		want   float64
	}{
		"perfect":                       {[]float64{4, 3, 2, 1}, []int{0, 1}, 1},
		"worst":                         {[]float64{4, 3, 2, 1}, []int{2, 3}, (1.0/3 + 2.0/4) / 2},
		"second":                        {[]float64{4, 3, 2, 1}, []int{1}, 1.0 / 2},
		"first, third":                  {[]float64{4, 3, 2, 1}, []int{0, 2}, (1 + 2.0/3) / 2},
		"order of rows does not matter": {[]float64{1, 4, 2, 3}, []int{1, 2}, (1 + 2.0/3) / 2},
		// All tied: one place, at which everybody is found at once.
		"all tied": {[]float64{5, 5, 5, 5}, []int{3}, 1.0 / 4},
		// The buyer of the tied pair is found when both are: 1 of 2, then 2 of 4.
		"two ties":     {[]float64{5, 5, 3, 3}, []int{1, 2}, (1.0/2 + 2.0/4) / 2},
		"tied on top":  {[]float64{9, 9, 1}, []int{0, 1}, 1},
		"no score":     {[]float64{-1, 0.9, 0.1}, []int{0}, 1.0 / 3},
		"all buy":      {[]float64{1, 2, 3}, []int{0, 1, 2}, 1},
		"one customer": {[]float64{1}, []int{0}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			buys := make([]bool, len(c.scores))
			for _, i := range c.buys {
				buys[i] = true
			}
			got, any := one(c.scores, buys).precision(each(len(buys)))
			if !any || !near(got, c.want) {
				t.Errorf("average precision %v, want %v", got, c.want)
			}
		})
	}
}

func TestNobodyBuysIsNoFigure(t *testing.T) {
	r := one([]float64{3, 2, 1}, []bool{false, true, false})
	if got, any := one([]float64{3, 2, 1}, make([]bool, 3)).precision(each(3)); any {
		t.Errorf("average precision %v where nobody buys", got)
	}
	if got, any := r.precision([]uint8{1, 0, 1}); any {
		t.Errorf("average precision %v where the only buyer was not drawn", got)
	}
	// A cutoff at which nobody buys does not count.
	rs := rankings{r, one([]float64{1, 2, 3}, make([]bool, 3))}
	if got, any := rs.precision(each(3)); !any || !near(got, 0.5) {
		t.Errorf("the mean over cutoffs is %v, want that of the one with a buyer, 0.5", got)
	}
}

// drawRows draws customers, some of them tied, at least one of whom buys.
func drawRows(t *rapid.T) (scores []float64, buys []bool) {
	n := rapid.IntRange(1, 60).Draw(t, "n")
	steps := rapid.IntRange(1, 70).Draw(t, "different scores")
	scores, buys = make([]float64, n), make([]bool, n)
	for i := range scores {
		scores[i] = float64(rapid.IntRange(0, steps).Draw(t, "score")) / 10
		buys[i] = rapid.Bool().Draw(t, "buys")
	}
	buys[rapid.IntRange(0, n-1).Draw(t, "a buyer")] = true
	return scores, buys
}

// slow is the definition, threshold by threshold.
func slow(scores []float64, buys []bool, times []uint8) (float64, bool) {
	thresholds := slices.Clone(scores)
	slices.Sort(thresholds)
	thresholds = slices.Compact(thresholds)
	slices.Reverse(thresholds)
	all := 0
	for i, b := range buys {
		if b {
			all += int(times[i])
		}
	}
	sum, before := 0.0, 0.0
	for _, threshold := range thresholds {
		found, hits := 0, 0
		for i, s := range scores {
			if s >= threshold {
				found += int(times[i])
				if buys[i] {
					hits += int(times[i])
				}
			}
		}
		if found > 0 {
			recall := float64(hits) / float64(all)
			sum += (recall - before) * float64(hits) / float64(found)
			before = recall
		}
	}
	return sum, all > 0
}

func TestAveragePrecisionIsItsDefinition(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		scores, buys := drawRows(t)
		times := make([]uint8, len(scores))
		for i := range times {
			times[i] = uint8(rapid.IntRange(0, 3).Draw(t, "times"))
		}
		got, any := one(scores, buys).precision(times)
		want, really := slow(scores, buys, times)
		if any != really || any && math.Abs(got-want) > 1e-9 {
			t.Fatalf("average precision %v, %v; by definition %v, %v", got, any, want, really)
		}
	})
}

// Who is drawn twice is as two customers alike in everything.
func TestATimeIsACopy(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		scores, buys := drawRows(t)
		i := rapid.IntRange(0, len(scores)-1).Draw(t, "copied")
		times := each(len(scores))
		times[i] = 2
		twice, _ := one(scores, buys).precision(times)
		copied, _ := one(append(scores, scores[i]), append(buys, buys[i])).precision(each(len(scores) + 1))
		if math.Abs(twice-copied) > 1e-12 {
			t.Fatalf("drawn twice %v, copied %v", twice, copied)
		}
	})
}

func TestPropertiesOfAveragePrecision(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		scores, buys := drawRows(t)
		times := each(len(scores))
		before, _ := one(scores, buys).precision(times)
		buyers := 0
		for _, b := range buys {
			if b {
				buyers++
			}
		}
		if before <= 0 || before > 1+1e-12 {
			t.Fatalf("average precision %v", before)
		}
		tied, _ := one(make([]float64, len(scores)), buys).precision(times)
		if share := float64(buyers) / float64(len(buys)); !near(tied, share) {
			t.Fatalf("all tied: %v, want the share of buyers %v", tied, share)
		}
		// Only the order of scores counts.
		bent := make([]float64, len(scores))
		for i, s := range scores {
			bent[i] = math.Exp(s) - 7
		}
		if after, _ := one(bent, buys).precision(times); after != before {
			t.Fatalf("with scores bent, but in the same order, %v instead of %v", after, before)
		}
		// A buyer who comes to the top of all loses nobody anything.
		for i, b := range buys {
			if b {
				up := slices.Clone(scores)
				up[i] = 1e9
				if after, _ := one(up, buys).precision(times); after < before-1e-12 {
					t.Fatalf("buyer %d at the top: %v, before %v", i, after, before)
				}
				break
			}
		}
	})
}
