package quota

import (
	"fmt"
	"time"
)

// Unit is what a limit counts.
type Unit uint8

// The units.
const (
	Requests Unit = iota
	Tokens        // input and output together
	InputTokens
	OutputTokens
	Money      // in millionths of the currency that prices are in; see Currency
	Concurrent // calls at once: taken at dispatch, given back when their end is known

	Units int = iota
)

var unitNames = [Units]string{"requests", "tokens", "input_tokens", "output_tokens", "money", "concurrent"}

// String returns the unit's name.
func (u Unit) String() string {
	if int(u) < Units {
		return unitNames[u]
	}
	return fmt.Sprintf("unit(%d)", uint8(u))
}

// Amounts is how much of each unit a call takes, or took.
type Amounts [Units]int64

// One is what a call takes of which nothing more is known: one request, and a slot.
func One() Amounts { return Amounts{Requests: 1, Concurrent: 1} }

// Ask is what a call needs of its budgets.
type Ask struct {
	// Amounts is what it takes at most, as far as can be told.
	Amounts Amounts
	// Model is what it is a call of; "" where models are not told apart.
	Model string
}

// Add adds what others take, as far as sums can go.
func (a *Amounts) Add(b *Amounts) {
	for i, n := range b {
		a[i] += min(max(n, 0), MostMax)
	}
}

// Sub takes back what was added.
func (a *Amounts) Sub(b *Amounts) {
	for i, n := range b {
		a[i] -= min(max(n, 0), MostMax)
	}
}

// Limit is what may be spent of one unit.
type Limit struct {
	Unit Unit
	// Most is how much can be there at once: a bucket's burst, what a window
	// holds, how many slots. 1 .. MostMax.
	Most int64
	// Refill and Every say how a bucket fills: Refill units every Every.
	Refill int64
	Every  time.Duration
	// Window, if set, gives Most anew at the beginning of each day or month
	// instead; Refill and Every are 0 then.
	Window Window
	// Refund says that what a call took and did not use is given back when that
	// is known. Providers that count a request's ceiling when it comes do not.
	Refund bool
}

// MostMax is the most of anything, so that no sum comes near overflow.
const MostMax = int64(1) << 53

// Currency is one whole unit of money.
const Currency = 1_000_000

// EveryMax is the longest time in which a bucket's Refill may be written.
const EveryMax = 366 * 24 * time.Hour

// Validate returns what is wrong with the limit and what would be right, or nil.
func (l *Limit) Validate() error {
	fault := func(format string, a ...any) error { return fmt.Errorf(l.Unit.String()+": "+format, a...) }
	switch {
	case int(l.Unit) >= Units:
		return fault("no such unit")
	case l.Most < 1 || l.Most > MostMax:
		return fault("%d at most; write 1 to %d", l.Most, MostMax)
	case l.Window.Period > Month:
		return fault("period %d; write day or month", l.Window.Period)
	case l.Unit == Concurrent && (l.Refill != 0 || l.Every != 0 || l.Windowed()):
		return fault("calls at once come free when calls end; remove what says how they refill")
	case l.Unit == Concurrent:
		return nil
	case l.Windowed() && (l.Refill != 0 || l.Every != 0):
		return fault("both a window and a refill; write one")
	case l.Windowed():
		return nil
	case l.Refill < 1 || l.Refill > MostMax:
		return fault("a refill of %d; write 1 to %d", l.Refill, MostMax)
	case l.Every < 1 || l.Every > EveryMax:
		return fault("a refill every %v; write more than 0 and at most %v", l.Every, EveryMax)
	}
	return nil
}

// Windowed reports whether the limit is whole again at the beginning of a window.
func (l *Limit) Windowed() bool { return l.Window.Period != Rolling }
