package ap

import (
	"fmt"
	"slices"

	"github.com/spillway-dev/spillway/report"
)

// scored is a ranked cutoff with its scores.
type scored struct {
	*cutoff
	today     []float64
	lastMonth []float64 // the default's for who is new
}

// score gives every customer its score at each cutoff. The first cutoff is not
// ranked: it is the month before the second.
func (r *Ranking) score(cutoffs []cutoff, models []weights, s *scale) {
	isNew := 0
	before := scored{cutoff: &cutoffs[0], today: average(models, s, cutoffs[0].numbers)}
	for i := 1; i < len(cutoffs); i++ {
		c := scored{cutoff: &cutoffs[i], today: average(models, s, cutoffs[i].numbers)}
		for _, customer := range c.customers {
			score := r.usual
			if at, known := slices.BinarySearch(before.customers, customer); known {
				score = before.today[at]
			} else {
				isNew++
			}
			c.lastMonth = append(c.lastMonth, score)
		}
		r.facts.RowsRanked += len(c.customers)
		r.ranked = append(r.ranked, c)
		before = c
	}
	r.facts.NewShare = report.Share(int64(isNew), int64(r.facts.RowsRanked))
}

// average is the mean of the models' scores.
func average(models []weights, s *scale, rows []numbers) []float64 {
	scores := make([]float64, len(rows))
	terms := make([]float64, terms)
	for i, row := range rows {
		s.terms(terms, row)
		for m := range models {
			scores[i] += logistic(models[m].sum(terms)) / float64(len(models))
		}
	}
	return scores
}

// rankBy ranks the customers at every cutoff by a score.
func (r *Ranking) rankBy(score func(c *scored) []float64) rankings {
	var rs rankings
	for i := range r.ranked {
		c := &r.ranked[i]
		rs = append(rs, rank(c.customers, c.buys, score(c)))
	}
	return rs
}

// measure takes the average precision with every score today's, by resample
// too, and what there is to compare it with.
func (r *Ranking) measure(models []weights, s *scale) error {
	today := r.rankBy(func(c *scored) []float64 { return c.today })
	once := each(r.customers)
	var any bool
	if r.live, any = today.precision(once); !any {
		return fmt.Errorf("nobody buys within 30 days of any of the last %d cutoffs: there is nothing to rank", len(r.ranked))
	}
	r.resamples = draw(r.options.Seed, r.options.Resamples, r.customers, today)
	r.lives = today.over(r.resamples)

	f := &r.facts
	f.Live = report.Number(r.live)
	buyers := 0
	for i := range r.ranked {
		buyers += r.ranked[i].buyers()
		f.ByCutoff = append(f.ByCutoff, figure(today[i].precision(once)))
	}
	f.BuyersRanked = report.Share(int64(buyers), int64(f.RowsRanked))
	f.ByLastOrder = figure(r.rankBy(func(c *scored) []float64 {
		scores := make([]float64, len(c.numbers))
		for i, n := range c.numbers {
			scores[i] = -n[sinceLast]
		}
		return scores
	}).precision(once))
	var alone []float64
	for m := range models {
		p, _ := r.rankBy(func(c *scored) []float64 { return average(models[m:m+1], s, c.numbers) }).precision(once)
		alone = append(alone, p)
	}
	f.OneModel = [2]report.Number{report.Number(slices.Min(alone)), report.Number(slices.Max(alone))}
	f.Everybody = r.cost([]bool{true})
	f.Everybody.Requests, f.Everybody.StandIns = f.RowsRanked, f.RowsRanked
	return nil
}

// figure is a figure, or none.
func figure(v float64, is bool) report.Number {
	if !is {
		return report.None()
	}
	return report.Number(v)
}
