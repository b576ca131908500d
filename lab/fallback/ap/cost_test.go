package ap

import (
	"slices"
	"sync"
	"testing"

	"github.com/spillway-dev/spillway/report"
	"github.com/spillway-dev/spillway/workload/dice"
)

// small is the drawn shop's ranking with fewer models and resamples, made once.
var small = sync.OnceValues(func() (*Ranking, error) {
	o := Defaults()
	o.Models, o.Resamples = 3, 200
	return Prepare(o, nil)
})

func ranked(t *testing.T) *Ranking {
	t.Helper()
	r, err := small()
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// some returns requests of which about a share got a stand-in.
func some(n int, share float64) []bool {
	d := dice.New(1, "test/stand-ins")
	standIns := make([]bool, n)
	for i := range standIns {
		standIns[i] = d.Bool(share)
	}
	return standIns
}

func cost(t *testing.T, standIns []bool) *Cost {
	t.Helper()
	c, err := ranked(t).Cost(Arm{Name: "arm", StandIns: standIns})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestNoStandInCostsNothing(t *testing.T) {
	c := cost(t, make([]bool, 45_000))
	none := Change{AP: c.Live, Verdict: NoStandIn}
	if c.StandInShare != 0 || c.LastKnown != none || c.Default != none || c.None != none {
		t.Errorf("without a stand-in the cost is %+v", c)
	}
}

func TestAnArmWithoutRequestsIsRefused(t *testing.T) {
	if _, err := ranked(t).Cost(Arm{Name: "H3-none"}); err == nil || err.Error() != "arm H3-none: it had no requests" {
		t.Errorf("error %v", err)
	}
}

func TestWhatAStandInCosts(t *testing.T) {
	few, half := cost(t, some(45_000, 0.0166)), cost(t, some(45_000, 0.475))
	for _, c := range []*Cost{few, half} {
		if !(c.LastKnown.Delta > c.Default.Delta && c.Default.Delta > c.None.Delta) {
			t.Errorf("last month's score %v, the default %v, none %v: each must lose more than the one before",
				c.LastKnown.Delta, c.Default.Delta, c.None.Delta)
		}
		for _, s := range c.standIns() {
			if s.Low > s.Delta || s.High < s.Delta || s.LargestLoss != max(0, -s.Low) || s.AP != c.Live+s.Delta {
				t.Errorf("%s: %+v does not agree with itself", s.name, s.Change)
			}
		}
		if d := c.RowShare - c.StandInShare; d < -0.005 || d > 0.005 {
			t.Errorf("%v of rows met a stand-in, %v of requests got one", c.RowShare, c.StandInShare)
		}
	}
	if few.LastKnown.Verdict != TooClose || few.None.Verdict != Costs || half.Default.Verdict != Costs {
		t.Errorf("verdicts %q, %q, %q; want too close to call, costs, costs", few.LastKnown.Verdict, few.None.Verdict, half.Default.Verdict)
	}
	if half.LastKnown.Delta > few.LastKnown.Delta {
		t.Error("half of the scores old lose less than one in sixty")
	}
}

// Where everything is the default nothing is ranked: the average precision is
// that of chance, and no score at all is the same.
func TestEverybodyTheSame(t *testing.T) {
	f := ranked(t).Facts()
	if f.Everybody.Default != f.Everybody.None {
		t.Errorf("all default %+v, all without a score %+v: both rank nobody", f.Everybody.Default, f.Everybody.None)
	}
	if d := f.Everybody.Default.AP - f.BuyersRanked; d < -0.005 || d > 0.005 {
		t.Errorf("average precision by chance is %v, the share of buyers %v", f.Everybody.Default.AP, f.BuyersRanked)
	}
	all := cost(t, []bool{true, true, true})
	if all.LastKnown != f.Everybody.LastKnown {
		t.Errorf("an arm of nothing but stand-ins costs %+v, everybody %+v", all.LastKnown, f.Everybody.LastKnown)
	}
}

// Each request asks for a customer at least once, and arms of the same requests
// ask for the same ones.
func TestTheDeal(t *testing.T) {
	r := ranked(t)
	rows := 0
	for i := range r.ranked {
		rows += len(r.ranked[i].customers)
	}
	few := make([]bool, 3*rows-1)
	few[17] = true
	deals, share := r.deal(few)
	met := 0
	for _, d := range deals {
		for _, here := range d {
			for _, m := range here {
				if m {
					met++
				}
			}
		}
	}
	if len(deals) != 3 || met < 1 || met > 2 || share != float64(met)/float64(3*rows) {
		t.Errorf("%d deals in which one request of %d is met %d times, share %v", len(deals), len(few), met, share)
	}
	more := slices.Clone(few)
	more[18] = true
	wider, _ := r.deal(more)
	for i := range deals {
		for j := range deals[i] {
			for k, m := range deals[i][j] {
				if m && !wider[i][j][k] {
					t.Fatal("a row that met a stand-in in one arm does not in an arm in which more requests got one")
				}
			}
		}
	}
}

// Of who was not a customer a month ago there is no last score.
func TestWhoIsNewGetsTheDefault(t *testing.T) {
	r := ranked(t)
	isNew := 0
	for i := range r.ranked {
		c := &r.ranked[i]
		for j, n := range c.numbers {
			if n[sinceFirst] <= 30 {
				isNew++
				if c.lastMonth[j] != r.usual {
					t.Fatalf("customer %d, of %v days, had score %v a month ago", c.customers[j], n[sinceFirst], c.lastMonth[j])
				}
			} else if i > 0 {
				before := &r.ranked[i-1]
				if at, _ := slices.BinarySearch(before.customers, c.customers[j]); c.lastMonth[j] != before.today[at] {
					t.Fatalf("customer %d has last month's score %v, had %v", c.customers[j], c.lastMonth[j], before.today[at])
				}
			}
		}
	}
	if isNew == 0 || report.Share(int64(isNew), int64(r.facts.RowsRanked)) != r.facts.NewShare {
		t.Errorf("%d rows are new, share %v", isNew, r.facts.NewShare)
	}
}

func TestVerdicts(t *testing.T) {
	for name, c := range map[string]struct {
		deltas []float64
		want   string
		loss   report.Number
	}{
		"costs":            {[]float64{-3, -2, -1}, Costs, 2.95},
		"gains":            {[]float64{1, 2, 3}, Gains, 0},
		"zero inside":      {[]float64{-1, 0, 1}, TooClose, 0.95},
		"zero at the end":  {[]float64{-1, 0, 0}, TooClose, 0.95},
		"nothing ever was": {[]float64{0, 0, 0}, TooClose, 0},
	} {
		t.Run(name, func(t *testing.T) {
			got := changeOf(5, 5, c.deltas)
			if d := got.LargestLoss - c.loss; got.Verdict != c.want || d > 1e-9 || d < -1e-9 {
				t.Errorf("%q, largest loss %v; want %q, %v", got.Verdict, got.LargestLoss, c.want, c.loss)
			}
		})
	}
}
