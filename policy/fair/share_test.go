package fair

import (
	"math"
	"testing"

	"github.com/spillway-dev/spillway/policy/unit"
)

// Cases D9: equal weights, costs of 10 and of 1, both always waiting: each gets
// half of the cost, also when all are thought to cost 1 and 4 run at a time,
// corrected when they end.
func TestUnequalCostsShareEqually(t *testing.T) {
	truth := []unit.Cost{10, 1}
	for _, estimated := range []bool{false, true} {
		s, fs := joined(DRR, 1, 1)
		var got [2]unit.Cost
		var running []int
		wait, longest := 0, 0
		for range 60_000 {
			f := s.Next()
			i := f.Owner.(int)
			if estimated {
				s.Serve(f, 1)
				running = append(running, i)
				if len(running) == 4 {
					done := running[0]
					running = running[1:]
					s.Correct(fs[done], truth[done]-1)
				}
			} else {
				s.Serve(f, truth[i])
			}
			got[i] += truth[i]
			if wait++; i == 1 {
				wait = 0
			}
			longest = max(longest, wait)
		}
		if ratio := float64(got[0]) / float64(got[1]); ratio < 0.9 || ratio > 1.1 {
			t.Errorf("estimated %v: consumed cost ratio %v", estimated, ratio)
		}
		// One request of the other at a time, or as many as ran on a wrong guess.
		if limit := map[bool]int{false: 1, true: 4}[estimated]; longest > limit {
			t.Errorf("estimated %v: passed over %d times in a row, at most %d", estimated, longest, limit)
		}
	}
}

// Cases D1: A asks 2 a second and B 1 of a capacity of 3 for a while, then B
// doubles. B has not saved up what it did not ask for: at once both get half.
func TestNoWindUp(t *testing.T) {
	for _, p := range []Policy{RR, WRR, DRR} {
		s, fs := New(p), flows(1, 1)
		queue, got := [2]int{}, [2][]int{}
		ask := func(i int) {
			if queue[i]++; queue[i] == 1 {
				s.Join(fs[i])
			}
		}
		const step, second = 10, 1000 // milliseconds
		for now := 0; now < 120*second; now += step {
			before := now < 60*second
			if now%(second/2) == 0 {
				ask(0)
			}
			if before && now%second == 0 || !before && now%(second/2) == 0 {
				ask(1)
			}
			if now%(second/3/step*step) != 0 {
				continue
			}
			if f := s.Next(); f != nil {
				s.Serve(f, 1)
				i := f.Owner.(int)
				got[i] = append(got[i], now)
				if queue[i]--; queue[i] == 0 {
					s.Leave(f)
				}
			}
		}
		share := func(from, to int) float64 {
			var n [2]float64
			for i := range got {
				for _, at := range got[i] {
					if from <= at && at < to {
						n[i]++
					}
				}
			}
			return n[1] / (n[0] + n[1])
		}
		for from := 60 * second; from < 110*second; from += second {
			b := share(from, from+10*second)
			if b > 0.60 || from >= 62*second && math.Abs(b-0.5) > 0.05 {
				t.Errorf("%v: after %d s B gets %.2f of the capacity", p, from/second-60, b)
			}
		}
	}
}

// A pick costs the same however much anybody owes: nothing is walked through.
func TestHugeDebtsAreNotWalkedThrough(t *testing.T) {
	s, _ := joined(DRR, make([]int64, 0)...)
	for i := range 1000 {
		s.Join(&Flow{Weight: 1, Owner: i})
	}
	for range 100_000 { // would take 2^40 x 1000 steps a pick
		s.Serve(s.Next(), unit.CostMax)
	}
}
