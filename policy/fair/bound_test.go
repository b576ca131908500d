package fair

import (
	"math"
	"slices"
	"testing"

	"github.com/spillway-dev/spillway/policy/unit"
	"pgregory.net/rapid"
)

// The written bound: while two flows both wait and keep their weights, what
// they receive per weight differs by 2 requests (rr, wrr) or 2 + c_i/w_i +
// c_j/w_j (drr), whatever the others do: join, leave, change their weights,
// name huge costs.
func TestFairnessBound(t *testing.T) {
	for _, p := range []Policy{RR, WRR, DRR} {
		t.Run(p.String(), func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) { checkBound(t, p) })
		})
	}
}

type party struct {
	*Flow
	waits   bool
	costMax unit.Cost
	got     unit.Cost
}

func checkBound(t *rapid.T, p Policy) {
	s := New(p)
	ps := make([]*party, rapid.IntRange(2, 6).Draw(t, "flows"))
	for i := range ps {
		ps[i] = &party{
			Flow:    &Flow{Weight: rapid.Int64Range(1, 5).Draw(t, "weight"), Owner: i},
			costMax: rapid.SampledFrom([]unit.Cost{1, 2, 10, 1000, 1 << 40}).Draw(t, "costMax"),
		}
	}
	// since[i][j] is what i and j had received when the interval in which both
	// wait and keep their weights began.
	type pair struct{ i, j unit.Cost }
	since := map[[2]int]pair{}
	begin := func(k int) {
		for l := range ps {
			i, j := min(k, l), max(k, l)
			since[[2]int{i, j}] = pair{ps[i].got, ps[j].got}
		}
	}
	weight := func(i int) float64 {
		if p == RR {
			return 1
		}
		return float64(ps[i].Weight)
	}
	pick := rapid.IntRange(0, len(ps)-1)
	serve := func(t *rapid.T) {
		f := s.Next()
		if f == nil {
			for _, q := range ps {
				if q.waits {
					t.Fatal("somebody waits and nobody is served")
				}
			}
			return
		}
		q := ps[f.Owner.(int)]
		if !q.waits {
			t.Fatalf("flow %v is served and does not wait", f.Owner)
		}
		if again := s.Next(); again != f {
			t.Fatal("asking twice changes the answer")
		}
		cost := unit.Cost(rapid.Int64Range(1, int64(q.costMax)).Draw(t, "cost"))
		s.Serve(f, cost)
		if p != DRR {
			cost = 1
		}
		q.got += cost
		for i := range ps {
			for j := i + 1; j < len(ps); j++ {
				if !ps[i].waits || !ps[j].waits {
					continue
				}
				start := since[[2]int{i, j}]
				lag := math.Abs(float64(ps[i].got-start.i)/weight(i) - float64(ps[j].got-start.j)/weight(j))
				bound := 2.0
				if p == DRR {
					bound += float64(ps[i].costMax)/weight(i) + float64(ps[j].costMax)/weight(j)
				}
				if lag > bound*(1+1e-9) {
					t.Fatalf("flows %d and %d: lag %v, bound %v", i, j, lag, bound)
				}
			}
		}
	}
	t.Repeat(map[string]func(*rapid.T){
		"serve": serve, "serve more": serve, "serve yet more": serve,
		"join": func(t *rapid.T) {
			if i := pick.Draw(t, "join"); !ps[i].waits {
				ps[i].waits = true
				s.Join(ps[i].Flow)
				begin(i)
			}
		},
		"leave": func(t *rapid.T) {
			i := pick.Draw(t, "leave")
			ps[i].waits = false
			s.Leave(ps[i].Flow)
		},
		"weigh": func(t *rapid.T) {
			i := pick.Draw(t, "weigh")
			s.Set(ps[i].Flow, rapid.Int64Range(1, 5).Draw(t, "weight"), 0)
			// The turn under way is of the old weight: wait for it to pass.
			if ps[i].waits {
				s.Leave(ps[i].Flow)
				s.Join(ps[i].Flow)
				begin(i)
			}
		},
		"": func(t *rapid.T) {
			var want int64
			for _, q := range ps {
				switch {
				case q.waits && p == RR:
					want++
				case q.waits:
					want += q.Weight
				}
			}
			if s.Weight() != max(want, 1) {
				t.Fatalf("weight %d, want %d", s.Weight(), want)
			}
		},
	})
}

// Ranks against sorting: the lowest rank, then the longest in the schedule.
func TestRanksAgreeWithSorting(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s, fs := New(Priority), flows(1, 1, 1, 1, 1, 1)
		var waiting []*Flow
		t.Repeat(map[string]func(*rapid.T){
			"join": func(t *rapid.T) {
				f := rapid.SampledFrom(fs).Draw(t, "join")
				s.Join(f)
				if !slices.Contains(waiting, f) {
					waiting = append(waiting, f)
				}
			},
			"leave": func(t *rapid.T) {
				f := rapid.SampledFrom(fs).Draw(t, "leave")
				s.Leave(f)
				waiting = slices.DeleteFunc(waiting, func(g *Flow) bool { return f == g })
			},
			"rank": func(t *rapid.T) {
				s.Set(rapid.SampledFrom(fs).Draw(t, "flow"), 1, rapid.IntRange(0, 3).Draw(t, "rank"))
			},
			"": func(t *rapid.T) {
				var want *Flow
				for _, f := range waiting {
					if want == nil || f.Rank < want.Rank {
						want = f
					}
				}
				if got := s.Next(); got != want {
					t.Fatalf("next is %v, want %v", got, want)
				}
			},
		})
	})
}
