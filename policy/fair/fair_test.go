package fair

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/spillway-dev/spillway/policy/unit"
	"pgregory.net/rapid"
)

func flows(weights ...int64) []*Flow {
	fs := make([]*Flow, len(weights))
	for i, w := range weights {
		fs[i] = &Flow{Weight: w, Rank: i, Owner: i}
	}
	return fs
}

func joined(p Policy, weights ...int64) (Scheduler, []*Flow) {
	s, fs := New(p), flows(weights...)
	for _, f := range fs {
		s.Join(f)
	}
	return s, fs
}

// turns serves n requests of the flows' costs and returns who was served.
func turns(s Scheduler, n int, costs ...unit.Cost) string {
	served := ""
	for range n {
		f := s.Next()
		i := f.Owner.(int)
		cost := unit.Cost(1)
		if len(costs) > 0 {
			cost = costs[i]
		}
		s.Serve(f, cost)
		served += string(rune('A' + i))
	}
	return served
}

func TestOrderOfService(t *testing.T) {
	for _, c := range []struct {
		policy  Policy
		weights []int64
		costs   []unit.Cost
		want    string
	}{
		{RR, []int64{1, 1, 1}, nil, "ABCABCABC"},
		{RR, []int64{5, 1, 1}, nil, "ABCABCABC"},
		{WRR, []int64{2, 1, 1}, nil, "AABCAABCAABC"},
		{WRR, []int64{1, 3}, []unit.Cost{100, 1}, "ABBBABBBABBB"},
		{DRR, []int64{2, 1, 1}, nil, "AABCAABCAABC"},
		{DRR, []int64{1, 1}, []unit.Cost{3, 1}, "ABBBABBBABBB"},
		{DRR, []int64{3, 1}, []unit.Cost{3, 1}, "ABABABAB"},
		{DRR, []int64{1, 1, 1}, []unit.Cost{1 << 40, 1, 1}, "ABCBCBCBCBC"}, // one huge request lengthens nobody's turns
		{Priority, []int64{1, 9, 9}, nil, "AAAAAA"},
	} {
		s, _ := joined(c.policy, c.weights...)
		if got := turns(s, len(c.want), c.costs...); got != c.want {
			t.Errorf("%v, weights %v, costs %v: served %s, want %s", c.policy, c.weights, c.costs, got, c.want)
		}
	}
}

func TestPolicyNames(t *testing.T) {
	for p := Fifo; p <= DRR; p++ {
		if got, ok := ParsePolicy(p.String()); !ok || got != p {
			t.Errorf("%v is read as %v, %v", p, got, ok)
		}
	}
	if _, ok := ParsePolicy("wfq"); ok {
		t.Error("wfq is no policy")
	}
	if New(Fifo) != nil || Policy(9).String() != "unknown" {
		t.Error("fifo schedules nothing; what is no policy has no name")
	}
}

func TestJoiningAndLeavingTwiceIsOnce(t *testing.T) {
	for _, p := range []Policy{Priority, RR, WRR, DRR} {
		s, fs := joined(p, 2, 3)
		s.Join(fs[0])
		s.Leave(fs[1])
		s.Leave(fs[1])
		want := int64(2)
		if p == RR {
			want = 1
		}
		if s.Weight() != want {
			t.Errorf("%v: weight %d, want %d", p, s.Weight(), want)
		}
		s.Leave(fs[0])
		if s.Next() != nil || s.Weight() != 1 {
			t.Errorf("%v: when all have left: %v, weight %d", p, s.Next(), s.Weight())
		}
	}
}

func TestAChangedRankCountsAtOnce(t *testing.T) {
	s, fs := joined(Priority, 1, 1, 1, 1)
	s.Set(fs[0], 1, 9)
	s.Set(fs[3], 1, -1)
	want := []int{3, 1, 2, 0}
	for _, w := range want {
		f := s.Next()
		if f.Owner != w {
			t.Fatalf("served %v, want %d", f.Owner, w)
		}
		s.Leave(f)
	}
}

func TestAChangedWeightCountsFromTheNextTurn(t *testing.T) {
	for _, p := range []Policy{WRR, DRR} {
		s, fs := joined(p, 1, 1)
		s.Set(fs[1], 4, 0)
		if got := turns(s, 11); got != "ABBBBABBBBA" && got != "ABABBBBABBB" {
			t.Errorf("%v: served %s", p, got)
		}
		if s.Weight() != 5 {
			t.Errorf("%v: weight %d, want 5", p, s.Weight())
		}
		s.Set(fs[0], -3, 0)
		s.Set(fs[1], math.MaxInt64, 0)
		if fs[0].Weight != 1 || fs[1].Weight != WeightMax || s.Weight() != 1+WeightMax {
			t.Errorf("%v: weights %d and %d of %d", p, fs[0].Weight, fs[1].Weight, s.Weight())
		}
	}
}

// Whoever was away for a thousand turns gets no more of the next ones than one
// who was there.
func TestIdlenessSavesNothingUp(t *testing.T) {
	for _, p := range []Policy{RR, WRR, DRR} {
		s, fs := joined(p, 1, 1)
		s.Leave(fs[1])
		turns(s, 1000)
		s.Join(fs[1])
		n := 0
		for range 20 {
			f := s.Next()
			s.Serve(f, 1)
			if f == fs[1] {
				n++
			}
		}
		if n > 11 {
			t.Errorf("%v: %d of 20 turns after a rest", p, n)
		}
	}
}

// Leaving and coming back does not pay: neither for one who spends a part of
// its turn and asks for another, nor for one who owes.
func TestComingBackDoesNotPay(t *testing.T) {
	s, fs := joined(DRR, 1, 1)
	var got [2]unit.Cost
	for range 4000 {
		f := s.Next()
		i := f.Owner.(int)
		cost := unit.Cost(1)
		if i == 0 {
			cost = 50
		}
		s.Serve(f, cost)
		got[i] += cost
		if i == 0 {
			s.Leave(fs[0])
			s.Join(fs[0])
		}
	}
	if ratio := float64(got[0]) / float64(got[1]); ratio > 1.02 {
		t.Errorf("one who leaves after each request gets %v times the other's share", ratio)
	}
}

func TestDebtsAreVoidWhenNobodyWaits(t *testing.T) {
	s, fs := joined(DRR, 1, 1)
	turns(s, 1, 1_000_000)
	s.Leave(fs[0])
	s.Leave(fs[1])
	s.Correct(fs[0], 1000) // nobody waits, nobody owes
	s.Join(fs[0])
	s.Join(fs[1])
	if got := turns(s, 4); got != "ABAB" {
		t.Errorf("served %s, want ABAB", got)
	}
}

func TestCountingRoundsStartsAgain(t *testing.T) {
	s, fs := joined(DRR, 1, 1, 1)
	d := s.(*Deficit)
	for _, f := range fs {
		f.key += roundMax
	}
	fs[2].key += 5
	if got := turns(s, 10); got != "ABABABABAB" || d.round > 10 {
		t.Errorf("served %s, then round %d", got, d.round)
	}
	if got := turns(s, 6); got != "ABCABC" && got != "CABCAB" {
		t.Errorf("served %s in the end", got)
	}
}

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

func BenchmarkPick(b *testing.B) {
	for _, p := range []Policy{RR, WRR, DRR, Priority} {
		for _, n := range []int{1, 10, 1000} {
			b.Run(fmt.Sprintf("%v/%d", p, n), func(b *testing.B) {
				s := New(p)
				for i := range n {
					s.Join(&Flow{Weight: int64(1 + i%3), Rank: i, Owner: i})
				}
				b.ReportAllocs()
				for i := range b.N {
					s.Serve(s.Next(), unit.Cost(1+i%10))
				}
			})
		}
	}
}
