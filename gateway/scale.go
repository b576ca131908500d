package gateway

import (
	"time"

	"github.com/spillway-dev/spillway/gateway/steer"
	"github.com/spillway-dev/spillway/observe"
	"github.com/spillway-dev/spillway/policy/reason"
)

// demands is what the board for autoscalers goes by: of every upstream of the
// configuration what its classes were offered, and what of it came to nothing.
func (g *Gateway) demands() (all []steer.Resource) {
	for _, r := range g.current.Load().resources {
		if r.service.Name == "" { // it drains
			continue
		}
		d := steer.Resource{Name: r.name}
		weight := int64(0)
		held := 0.0
		for _, s := range r.gate.States() {
			d.Offered += s.Tally.Offered
			d.Slots += s.Slots
			d.Served += s.Tally.Answered[reason.Served]
			for _, why := range []reason.Reason{reason.Failed, reason.Timeout, reason.Unknown, reason.BreakerOpen} {
				d.Faults += s.Tally.Answered[why]
			}
			// Classes hold their slots for different times: each counts by what is
			// offered to it.
			if s.Holding > 0 {
				weight += s.Tally.Offered
				held += float64(s.Tally.Offered) * s.Holding.Seconds()
			}
		}
		if weight > 0 {
			d.Holding = time.Duration(held / float64(weight) * 1e9)
		}
		all = append(all, d)
	}
	return all
}

// scaleMetrics is what a scrape sees of it.
func (g *Gateway) scaleMetrics() (all []observe.Scale) {
	for _, t := range g.board.Look() {
		all = append(all, observe.Scale{Resource: t.Resource, Reading: t.Reading})
	}
	return all
}
