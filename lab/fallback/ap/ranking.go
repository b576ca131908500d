package ap

import (
	"fmt"

	"github.com/spillway-dev/spillway/lab/fallback/ap/purchases"
	"github.com/spillway-dev/spillway/lab/fallback/ap/shop"
	"github.com/spillway-dev/spillway/report"
)

// Ranking is a shop's customers ranked at each cutoff by today's scores, with
// what could stand in for each. It is read-only once made.
type Ranking struct {
	options Options
	facts   Facts
	ranked  []scored

	customers int
	usual     float64 // the share of buyers in training
	resamples *resamples
	live      float64
	lives     []float64 // by resample
}

// Prepare reads or draws the events, trains the models, ranks and resamples.
// hear, if not nil, is told what is done. On the drawn shop it takes about two
// seconds and 50 MB; memory grows by a kilobyte a customer.
func Prepare(o Options, hear func(done, total int, what string)) (*Ranking, error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	if hear == nil {
		hear = func(int, int, string) {}
	}
	hear(0, o.Models+1, "events")
	l, err := eventsOf(o)
	if err != nil {
		return nil, err
	}
	cutoffs, trained, err := cutoffsOf(l)
	if err != nil {
		return nil, err
	}
	r := &Ranking{options: o, customers: l.Customers}
	r.facts = Facts{
		Events: l.Name, Columns: l.About, Seed: o.Seed, Models: o.Models, Resamples: o.Resamples,
		Customers: l.Customers, Orders: l.Orders, Returns: l.Returns, WithoutCustomer: l.Nobodys, WithoutWorth: l.Worthless, Span: l.Span(),
		CutoffsTrained: trained, CutoffsRanked: len(cutoffs) - trained,
	}
	models, scale, err := r.train(cutoffs[:trained], func(done int) { hear(done+1, o.Models+1, "models") })
	if err != nil {
		return nil, fmt.Errorf("%s: %w", l.Name, err)
	}
	r.score(cutoffs[trained-1:], models, scale)
	if err := r.measure(models, scale); err != nil {
		return nil, fmt.Errorf("%s: %w", l.Name, err)
	}
	return r, nil
}

func eventsOf(o Options) (*purchases.Log, error) {
	if o.Events != "" {
		return purchases.Open(o.Events)
	}
	drawn := shop.Defaults()
	drawn.Seed = o.Seed
	return shop.Draw(drawn)
}

func (r *Ranking) train(cutoffs []cutoff, hear func(int)) ([]weights, *scale, error) {
	var (
		rows      []numbers
		buys      []bool
		customers []int
		buyers    int
	)
	for i := range cutoffs {
		c := &cutoffs[i]
		rows, buys, customers = append(rows, c.numbers...), append(buys, c.buys...), append(customers, c.customers...)
		buyers += c.buyers()
	}
	if buyers == 0 || buyers == len(rows) {
		return nil, nil, fmt.Errorf("%d of the %d customers at the training cutoffs buy within 30 days: there is nothing to learn", buyers, len(rows))
	}
	r.facts.RowsTrained = len(rows)
	r.usual = float64(buyers) / float64(len(rows))
	r.facts.BuyersTrained = report.Number(r.usual)
	s := scaleOf(rows)
	models, err := train(s.table(rows), buys, customers, r.options.Seed, r.options.Models, hear)
	return models, &s, err
}
