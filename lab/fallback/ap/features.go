package ap

import (
	"github.com/spillway-dev/spillway/lab/fallback/ap/purchases"
	"github.com/spillway-dev/spillway/workload/dice/portable"
)

// numbers are what the feature store holds of a customer.
type numbers [6]float64

// The six, in their order.
const (
	sinceLast  = iota // days since the last order
	orders            // orders so far
	sinceFirst        // days since the first order
	spent             // in the log's currency, returns taken off, never below zero
	meanGap           // days between orders; of one order, days since it
	lately            // orders in the last 90 days
)

// past is what is known of a customer, event by event.
type past struct {
	orders []int64 // instants
	cents  float64
}

func (p *past) take(e purchases.Event) {
	p.cents += float64(e.Cents)
	if e.Bought() {
		p.orders = append(p.orders, e.At)
	}
}

// numbers returns the six as of an instant after all that was taken. There is an
// order.
func (p *past) numbers(at int64) numbers {
	first, last := p.orders[0], p.orders[len(p.orders)-1]
	days := func(seconds int64) float64 { return float64(seconds) / purchases.Day }
	n := numbers{
		sinceLast: days(at - last), orders: float64(len(p.orders)), sinceFirst: days(at - first),
		spent: max(0, p.cents/100), meanGap: days(at - first),
	}
	if len(p.orders) > 1 {
		n[meanGap] = days(last-first) / float64(len(p.orders)-1)
	}
	for i := len(p.orders) - 1; i >= 0 && p.orders[i] >= at-history; i-- {
		n[lately]++
	}
	return n
}

// logs returns ln(1 + x) of each: rates and sums differ by factors, not by
// steps.
func (n numbers) logs() numbers {
	for i := range n {
		n[i] = portable.Log(1 + n[i])
	}
	return n
}
