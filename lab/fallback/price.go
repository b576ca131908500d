package fallback

import (
	"fmt"
	"slices"

	"github.com/spillway-dev/spillway/lab/fallback/ap"
	"github.com/spillway-dev/spillway/report/html"
	"github.com/spillway-dev/spillway/report/text"
)

// notPriced is what the experiment says nothing about unless it is asked.
const notPriced = "how much worse a stand-in is than the answer (--ap says it)"

// Priced is what stand-ins cost, where that was asked.
type Priced struct {
	// AP is by arm, of the arms that answer with stand-ins.
	AP map[string]*ap.Cost `json:"ap"`
	// APRanking is the ranking in which it is measured.
	APRanking *ap.Facts `json:"ap_ranking,omitempty"`

	ranking *ap.Ranking
	arms    []ap.Arm
}

// prepare builds the ranking before any arm is played, so that a file of events
// that cannot be read is known at once. No options: nothing is priced.
func (p *Priced) prepare(o *ap.Options, hear func(done, total int, what string)) (err error) {
	p.AP = map[string]*ap.Cost{}
	if o == nil {
		return nil
	}
	if p.ranking, err = ap.Prepare(*o, hear); err != nil {
		return fmt.Errorf("events: %w", err)
	}
	p.APRanking = p.ranking.Facts()
	return nil
}

// take takes in which of a round's n requests got a stand-in. Rounds come in
// their order, an arm's one after the other.
func (p *Priced) take(s *Setting, n int, standIns []int64) {
	if p.ranking == nil || s.Otherwise != "stand_in" {
		return
	}
	if last := len(p.arms) - 1; last < 0 || p.arms[last].Name != s.Name {
		p.arms = append(p.arms, ap.Arm{Name: s.Name})
	}
	arm := &p.arms[len(p.arms)-1]
	from := len(arm.StandIns)
	arm.StandIns = append(arm.StandIns, make([]bool, n)...)
	for _, number := range standIns {
		arm.StandIns[from+int(number)] = true
	}
}

// price prices the arms that were taken in.
func (p *Priced) price(hear func(done, total int, what string)) error {
	for i, arm := range p.arms {
		if hear != nil {
			hear(i, len(p.arms), "stand-ins of "+arm.Name)
		}
		var err error
		if p.AP[arm.Name], err = p.ranking.Cost(arm); err != nil {
			return err
		}
	}
	return nil
}

// result is all of it, to be shown; nil where nothing was priced.
func (p *Priced) result() *ap.Result {
	if p.ranking == nil {
		return nil
	}
	r := &ap.Result{Ranking: p.APRanking, Arms: p.AP}
	for _, arm := range p.arms {
		r.Order = append(r.Order, arm.Name)
	}
	return r
}

func (p *Priced) priceFindings() []string {
	if r := p.result(); r != nil {
		return r.Findings()
	}
	return nil
}

// PriceTables are the prices for a terminal, if any.
func (p *Priced) PriceTables() []text.Table {
	if r := p.result(); r != nil {
		return []text.Table{r.Table()}
	}
	return nil
}

func (p *Priced) priceSections() []html.Section {
	if r := p.result(); r != nil {
		return []html.Section{r.Section()}
	}
	return nil
}

// notTested leaves out what was, after all.
func (p *Priced) notTested(all []string) []string {
	return slices.DeleteFunc(slices.Clone(all), func(what string) bool { return p.ranking != nil && what == notPriced })
}
