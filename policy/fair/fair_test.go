package fair

import (
	"math"
	"strings"
	"testing"

	"github.com/spillway-dev/spillway/policy/unit"
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

// Credit that was given for a higher weight is not spent under a lower one, in the
// schedule or out of it: found at random by the property of the bound.
func TestALoweredWeightTakesItsCreditAlong(t *testing.T) {
	for _, leaves := range []bool{false, true} {
		s := New(DRR)
		a, b := &Flow{Weight: 4, Owner: "a"}, &Flow{Weight: 2, Owner: "b"}
		s.Join(a)
		s.Join(b)
		s.Set(a, 1, 0)
		if leaves {
			s.Leave(a)
			s.Join(a)
		}
		served := ""
		for range 6 {
			f := s.Next()
			served += f.Owner.(string)
			s.Serve(f, 1)
		}
		if n := strings.Count(served, "a"); n != 2 {
			t.Errorf("it left in between: %v: served %s, a %d times of 6 with one share of three", leaves, served, n)
		}
	}
}

// A debt is a cost. Who owes five at weight 1 waits for five turns of a flow like it;
// at weight 4 for two.
func TestADebtIsPaidOffAtTheNewWeight(t *testing.T) {
	s := New(DRR)
	a, b := &Flow{Weight: 1, Owner: "a"}, &Flow{Weight: 1, Owner: "b"}
	s.Join(a)
	s.Join(b)
	s.Serve(s.Next(), 6)
	s.Set(a, 4, 0)
	served := ""
	for range 8 {
		f := s.Next()
		served += f.Owner.(string)
		s.Serve(f, 1)
	}
	if strings.Index(served, "a") > 2 {
		t.Errorf("served %s: it waits for more than two turns", served)
	}
}
