package ap

import (
	"fmt"

	"github.com/spillway-dev/spillway/lab/fallback/ap/purchases"
)

const (
	month     = 30 * purchases.Day
	history   = 90 * purchases.Day // before the first cutoff
	maxRanked = 6
	maxTrain  = 12
)

// cutoff is what was known at an instant of every customer who had ordered
// before it, and who then bought within a month.
type cutoff struct {
	at        int64
	customers []int // ascending
	numbers   []numbers
	buys      []bool
}

func (c *cutoff) buyers() int {
	n := 0
	for _, b := range c.buys {
		if b {
			n++
		}
	}
	return n
}

// cutoffsOf returns the cutoffs of a log, oldest first, and how many of them are
// for training.
func cutoffsOf(l *purchases.Log) (cutoffs []cutoff, train int, err error) {
	n := int((l.End() - month - l.First - history) / month)
	if l.End()-month-l.First >= history {
		n++
	}
	if n < 4 {
		return nil, 0, fmt.Errorf("%s: it covers %d days (%s); the ranking needs 210: 90 before the first of four months",
			l.Name, (l.End()-l.First)/purchases.Day, l.Span())
	}
	ranked := min(n/2, maxRanked)
	train = min(n-ranked, maxTrain)
	cutoffs = make([]cutoff, train+ranked)
	for i := range cutoffs {
		cutoffs[i].at = l.End() - int64(len(cutoffs)-i)*month
	}
	fill(cutoffs, l)
	for i := range cutoffs {
		if c := &cutoffs[i]; len(c.customers) == 0 {
			return nil, 0, fmt.Errorf("%s: nobody had ordered before the cutoff %d days before its end", l.Name, (l.End()-c.at)/purchases.Day)
		}
	}
	return cutoffs, train, nil
}

// fill goes through the log once, customer by customer.
func fill(cutoffs []cutoff, l *purchases.Log) {
	for from := 0; from < len(l.Events); {
		to := from
		for to < len(l.Events) && l.Events[to].Customer == l.Events[from].Customer {
			to++
		}
		var p past
		next := from
		for i := range cutoffs {
			c := &cutoffs[i]
			for ; next < to && l.Events[next].At < c.at; next++ {
				p.take(l.Events[next])
			}
			if len(p.orders) == 0 {
				continue
			}
			c.customers = append(c.customers, l.Events[from].Customer)
			c.numbers = append(c.numbers, p.numbers(c.at))
			c.buys = append(c.buys, buysWithin(l.Events[next:to], c.at+month))
		}
		from = to
	}
}

func buysWithin(events []purchases.Event, end int64) bool {
	for _, e := range events {
		if e.At >= end {
			return false
		}
		if e.Bought() {
			return true
		}
	}
	return false
}
