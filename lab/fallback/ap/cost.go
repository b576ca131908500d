package ap

import (
	"fmt"

	"github.com/spillway-dev/spillway/report"
	"github.com/spillway-dev/spillway/workload/dice"
)

// Facts returns what is known of the ranking by itself.
func (r *Ranking) Facts() *Facts {
	f := r.facts
	return &f
}

// Cost returns what an arm's stand-ins cost. On the drawn shop it takes about a
// tenth of a second.
func (r *Ranking) Cost(a Arm) (*Cost, error) {
	if len(a.StandIns) == 0 {
		return nil, fmt.Errorf("arm %s: it had no requests", a.Name)
	}
	return r.cost(a.StandIns), nil
}

func (r *Ranking) cost(standIns []bool) *Cost {
	deals, share := r.deal(standIns)
	c := &Cost{Requests: len(standIns), RowShare: report.Number(share), Live: report.Number(r.live)}
	for _, is := range standIns {
		if is {
			c.StandIns++
		}
	}
	c.StandInShare = report.Share(int64(c.StandIns), int64(c.Requests))
	for _, one := range []struct {
		change *Change
		score  func(c *scored, i int) float64
	}{
		{&c.LastKnown, func(c *scored, i int) float64 { return c.lastMonth[i] }},
		{&c.Default, func(*scored, int) float64 { return r.usual }},
		{&c.None, func(*scored, int) float64 { return -1 }}, // below every probability
	} {
		*one.change = r.change(deals, share, one.score)
	}
	return c
}

// A deal says of every row, cutoff by cutoff, whether it met a stand-in.
type deal [][]bool

// deal gives every row a request to ask with. The requests are shuffled by the
// seed and dealt out to the rows in turn, as many times over as it takes for
// each request to be dealt once; when they run out, again from the first. Arms
// of the same number of requests are dealt alike. share is that of rows that met
// a stand-in.
func (r *Ranking) deal(standIns []bool) (deals []deal, share float64) {
	order := make([]int, len(standIns))
	for i := range order {
		order[i] = i
	}
	dice.New(r.options.Seed, "ap/deal").Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
	row, met := 0, 0
	for row < len(order) {
		var d deal
		for i := range r.ranked {
			here := make([]bool, len(r.ranked[i].customers))
			for j := range here {
				if here[j] = standIns[order[row%len(order)]]; here[j] {
					met++
				}
				row++
			}
			d = append(d, here)
		}
		deals = append(deals, d)
	}
	return deals, float64(met) / float64(row)
}

// change is that of the average precision when the rows that met a stand-in are
// scored by it, the mean over the deals.
func (r *Ranking) change(deals []deal, share float64, standIn func(c *scored, i int) float64) Change {
	if share == 0 {
		return Change{AP: report.Number(r.live), Verdict: NoStandIn}
	}
	now, deltas := 0.0, make([]float64, r.resamples.n)
	for _, d := range deals {
		with := r.rankWith(d, standIn)
		p, _ := with.precision(each(r.customers))
		now += p / float64(len(deals))
		for i, p := range with.over(r.resamples) {
			deltas[i] += (p - r.lives[i]) / float64(len(deals))
		}
	}
	return changeOf(r.live, now, deltas)
}

// rankWith ranks by today's scores, and by the stand-in where a row met one.
func (r *Ranking) rankWith(d deal, standIn func(c *scored, i int) float64) rankings {
	at := 0
	return r.rankBy(func(c *scored) []float64 {
		met := d[at]
		at++
		scores := make([]float64, len(c.today))
		for i := range scores {
			if scores[i] = c.today[i]; met[i] {
				scores[i] = standIn(c, i)
			}
		}
		return scores
	})
}
