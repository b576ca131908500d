package purchases

import (
	"cmp"
	"fmt"
	"slices"
	"time"
)

// Event is one order, or the returns of one customer at one instant.
type Event struct {
	Customer int   // 0 .. Log.Customers-1
	At       int64 // seconds since 1970, UTC
	Cents    int64 // hundredths of the log's currency; below zero for returns, never zero
}

// Bought reports whether the event is an order.
func (e Event) Bought() bool { return e.Cents > 0 }

// Log is an event log. It is read-only once made, and then safe for concurrent
// use.
type Log struct {
	Name      string  // of the file or the generator
	About     string  // what the columns were taken for
	Events    []Event // by customer, then by time
	Customers int

	First, Last int64 // instants of the first and the last event
	Orders      int
	Returns     int
	Rows        int // of the file, the header not counted
	Nobodys     int // rows without a customer
	Worthless   int // rows whose amount is zero
}

// New makes a log of events in any order. Events of one customer at one instant
// become one order, and one return where there are any.
func New(name string, customers int, events []Event) (*Log, error) {
	l := &Log{Name: name, Customers: customers, Rows: len(events)}
	return l, l.take(events)
}

// most is a bound that no sum of a file's amounts comes near: 9e16 hundredths.
const most = 1 << 56

func (l *Log) take(events []Event) error {
	slices.SortStableFunc(events, func(a, b Event) int {
		return cmp.Or(cmp.Compare(a.Customer, b.Customer), cmp.Compare(a.At, b.At), cmp.Compare(b.Cents, a.Cents))
	})
	for _, e := range events {
		if e.Customer < 0 || e.Customer >= l.Customers {
			return fmt.Errorf("%s: customer %d of %d", l.Name, e.Customer, l.Customers)
		}
		if e.Cents == 0 {
			l.Worthless++
			continue
		}
		if n := len(l.Events) - 1; n >= 0 && l.Events[n].same(e) {
			if l.Events[n].Cents += e.Cents; l.Events[n].Cents > most || l.Events[n].Cents < -most {
				return fmt.Errorf("%s: what a customer buys at one instant adds up to over %d", l.Name, int64(most/100))
			}
			continue
		}
		l.Events = append(l.Events, e)
	}
	if len(l.Events) == 0 {
		return fmt.Errorf("%s: no row has a customer and an amount other than zero", l.Name)
	}
	l.First, l.Last = l.Events[0].At, l.Events[0].At
	for _, e := range l.Events {
		l.First, l.Last = min(l.First, e.At), max(l.Last, e.At)
		if e.Bought() {
			l.Orders++
		} else {
			l.Returns++
		}
	}
	return nil
}

// same reports whether f belongs to the order, or to the returns, that e is.
func (e Event) same(f Event) bool {
	return e.Customer == f.Customer && e.At == f.At && e.Bought() == f.Bought()
}

// Day is the length of a day in the unit of Event.At.
const Day = 24 * 60 * 60

// End is the end of the last day of the log: nothing is known of what comes
// after it.
func (l *Log) End() int64 { return l.Last - l.Last%Day + Day }

// Span says in words which days the log covers.
func (l *Log) Span() string {
	day := func(at int64) string { return time.Unix(at, 0).UTC().Format(time.DateOnly) }
	return day(l.First) + " to " + day(l.Last)
}
