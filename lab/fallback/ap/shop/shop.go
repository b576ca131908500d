package shop

import (
	"fmt"
	"math"
	"time"

	"github.com/spillway-dev/spillway/lab/fallback/ap/purchases"
	"github.com/spillway-dev/spillway/workload/dice"
	"github.com/spillway-dev/spillway/workload/dice/portable"
)

// Options say what to draw. Defaults are the ones that the lab uses.
type Options struct {
	Seed      uint64
	Customers int // who order at least once; 1 to 200,000
	Days      int // the length of the log; 1 to 3,650
}

// Defaults are two years of a shop of 5,000 customers.
func Defaults() Options { return Options{Seed: 1, Customers: 5000, Days: 730} }

// The shop. Its figures were chosen so that about as many customers buy again
// within a month, and are about as hard to find, as in a real shop in which that
// was measured (23.4 % and an average precision of 0.545); what a stand-in costs
// was not aimed at. Days are the unit of time.
const (
	rateShape  = 1.2  // of the gamma law of rates: the smaller, the more unequal
	meanGap    = 55.0 // between the orders of a customer of average rate
	lostA      = 0.6  // of the beta law of being lost after an order
	lostB      = 9.0
	drift      = 0.1    // deviation of the log of a rate's change in 30 days
	worthMu    = 3.6    // log of an order's worth: median 37
	worthApart = 0.6    // deviation of that between customers
	worthEach  = 0.5    // and between a customer's orders
	returned   = 0.04   // of orders, in part
	opening    = 0.35   // of customers come in the first fifth of the log
	opensAt    = 8 * 60 // minute of the day of the first order
	openFor    = 13 * 60
)

// start is the first day of every log: 2023-01-01.
var start = time.Date(2023, 1, 1, 0, 0, 0, 0, time.UTC).Unix()

// Draw draws a log. It takes about 20 ms for the defaults.
func Draw(o Options) (*purchases.Log, error) {
	switch {
	case o.Customers < 1 || o.Customers > purchases.MaxCustomers:
		return nil, fmt.Errorf("a shop of %d customers: from 1 to %d", o.Customers, purchases.MaxCustomers)
	case o.Days < 1 || o.Days > 3650:
		return nil, fmt.Errorf("a log of %d days: from 1 to 3,650", o.Days)
	}
	all := dice.New(o.Seed, "shop")
	var events []purchases.Event
	for c := range o.Customers {
		d := all.At(uint64(c), 0) // a customer's fate does not hang on how many others there are
		events = live(&d, c, float64(o.Days), events)
	}
	l, err := purchases.New(fmt.Sprintf("shop of seed %d", o.Seed), o.Customers, events)
	if err != nil {
		return nil, err
	}
	l.About = fmt.Sprintf("drawn: %d customers, %d days", o.Customers, o.Days)
	return l, nil
}

// live adds what a customer does until it is lost or the log ends.
func live(d *dice.Dice, c int, days float64, events []purchases.Event) []purchases.Event {
	at := float64(d.Float64() * days)
	if d.Bool(opening) {
		at = float64(d.Float64()*days) / 5
	}
	rate := gamma(d, rateShape) / float64(rateShape*meanGap)
	lost := beta(d, lostA, lostB)
	worth := worthMu + float64(worthApart*d.Norm())
	for at < days {
		cents := int64(math.Ceil(float64(d.LogNormal(worth, worthEach) * 100)))
		when := instant(d, at)
		events = append(events, purchases.Event{Customer: c, At: when, Cents: cents})
		if d.Bool(returned) {
			later := when + int64(1+d.Intn(14))*purchases.Day
			if part := cents * int64(1+d.Intn(4)) / 4; later < start+int64(days)*purchases.Day && part > 0 {
				events = append(events, purchases.Event{Customer: c, At: later, Cents: -part})
			}
		}
		if d.Bool(lost) {
			break
		}
		gap := d.Exp() / rate
		at += gap
		rate = float64(rate * d.LogNormal(0, float64(drift*math.Sqrt(math.Min(gap, 365)/30))))
	}
	return events
}

// instant is a second of a day within the shop's hours.
func instant(d *dice.Dice, at float64) int64 {
	second := int64(opensAt*60 + d.Intn(openFor*60))
	return start + int64(at)*purchases.Day + second
}

// gamma draws from the gamma law of this shape and scale 1: Marsaglia and
// Tsang, "A Simple Method for Generating Gamma Variables" (2000).
func gamma(d *dice.Dice, shape float64) float64 {
	if shape < 1 {
		root := portable.Exp(-d.Exp() / shape) // a uniform number to the power of 1/shape
		return float64(gamma(d, shape+1) * root)
	}
	third := shape - 1.0/3
	c := 1 / math.Sqrt(float64(9*third))
	for {
		x := d.Norm()
		v := 1 + float64(c*x)
		if v <= 0 {
			continue
		}
		v = float64(float64(v*v) * v)
		half := float64(x*x) / 2
		if -d.Exp() < half+third-float64(third*v)+float64(third*portable.Log(v)) {
			return float64(third * v)
		}
	}
}

// beta draws from the beta law.
func beta(d *dice.Dice, a, b float64) float64 {
	x, y := gamma(d, a), gamma(d, b)
	if x+y == 0 {
		return 0
	}
	return x / (x + y)
}
