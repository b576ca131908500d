package quota

import (
	"time"

	"github.com/spillway-dev/spillway/policy/reason"
	"github.com/spillway-dev/spillway/policy/unit"
)

// A lease is credit of a budget that one of several gateways holds and spends by
// itself, without asking the store each time. Credit is taken from the budget when it
// is granted, so that whatever the gateways do they never spend more than there is; and
// the budget refills to no more than its limit less what is out ([Budget.Grant]), so
// that what is spent in any stretch of time is what the limit allows for it. What it
// costs is under-use: at most a LeasePart-th of the limit is out at any moment, which is
// all that can lie with one gateway while another is refused.
//
// Leases serve buckets and windows of at least LeaseLeast units for each gateway. Slots
// are not leased: each has its own row, so that it is known whose is unknown.
const (
	LeasePart  = 20  // at most 1/20 of a limit, 5 %, is out
	LeaseLeast = 100 // units of the limit for each gateway
)

// Leasable reports whether leases serve a limit that so many gateways share.
func (l *Limit) Leasable(gateways int) bool {
	return l.Unit != Concurrent && l.Most/int64(max(gateways, 1)) >= LeaseLeast
}

// LeaseMost is the most credit that one of so many gateways may hold, at least 1.
func (l *Limit) LeaseMost(gateways int) int64 {
	return max(l.Most/(LeasePart*int64(max(gateways, 1))), 1)
}

// Granted is what a gateway that asks for credit is given.
type Granted struct {
	Credit int64
	// Lasts is how long it may be spent from when it was asked for: until the end of a
	// window; Forever in a bucket.
	Lasts time.Duration
	// After is in how long it is worth asking for more, if the budget had less than was
	// wanted: until then whoever asks beyond the credit is refused, and waits for nobody.
	After time.Duration
}

// Grant takes credit from the budget for one of so many gateways that holds mine of it,
// of all that is out. It is given what it may hold and the budget has; no more than its
// share of what is left, so that the last units do not lie where nobody spends them;
// and never more than it wants.
func (b *Budget) Grant(now Time, out, mine, want int64, gateways int) (g Granted) {
	*b = b.advanced(now)
	b.Left = min(b.Left, b.Limit.Most-out) // what is out has not come back
	room := b.Limit.LeaseMost(gateways) - mine
	share := max(b.Left/int64(2*max(gateways, 1)), 1)
	g.Credit = max(min(want, room, b.Left, share), 0)
	b.Left -= g.Credit
	g.Lasts = Forever
	if b.Limit.Windowed() {
		_, next := b.Limit.Window.bounds(b.At)
		g.Lasts = next.Sub(b.At)
	}
	switch {
	case g.Credit >= min(want, room):
	case b.Left > 0: // more than its share
		g.After = 1
	default: // not for each unit that comes
		worth := max(b.Limit.LeaseMost(gateways)/4, 1)
		g.After = max(b.fits(1, now), min(b.fits(worth, now), dryLeast))
	}
	return g
}

// dryLeast is how long a gateway leaves a budget alone that has nothing to give, if
// that is worth it by then.
const dryLeast = 20 * time.Millisecond

// PayBack puts unspent credit back into the budget, of which out is out after that.
func (b *Budget) PayBack(now Time, n, out int64) {
	*b = b.advanced(now)
	b.Left = min(b.Left+n, b.Limit.Most-out)
}

// Lease is a gateway's side of it: a value, used by one at a time. The zero Lease holds
// nothing. Instants are of the gateway's own clock, which only has to run.
type Lease struct {
	// Unit is what it counts.
	Unit Unit
	// Credit can be spent until Ends.
	Credit int64
	Ends   unit.Instant
	// Full is what it held when it was last filled: below half of it more is to be
	// asked for.
	Full int64
	// Dry is until when the budget has no more to give, 0 if it had enough when it was
	// last asked.
	Dry unit.Instant
}

// Wants returns how much more to ask for, 0 if nothing: as soon as half is spent, so
// that it comes before the rest is.
func (l *Lease) Wants(now unit.Instant, most int64) int64 {
	if now < l.Dry || now < l.Ends && l.Credit*2 > l.Full {
		return 0
	}
	return max(most-l.Credit, 0)
}

// Fill adds credit that was asked for at an instant.
func (l *Lease) Fill(asked unit.Instant, g Granted) {
	if l.Credit == 0 || g.Credit > 0 {
		l.Ends = asked.Add(g.Lasts)
	}
	l.Credit += g.Credit
	l.Full, l.Dry = l.Credit, 0
	if g.After > 0 {
		l.Dry = asked.Add(g.After)
	}
}

// Holding gives up what may not be spent any more and returns what is left: what the
// store is told. All that it knows of beyond was spent.
func (l *Lease) Holding(now unit.Instant) int64 {
	if now >= l.Ends {
		l.Credit, l.Full = 0, 0
	}
	return l.Credit
}

// Spend takes what an ask needs of every lease, or of none. If one has not enough it
// returns its index: of those the one that is dry longest, and how long that is; 0 if
// asking for more may help at once. It takes constant time for each and allocates
// nothing.
func Spend(now unit.Instant, leases []*Lease, ask *Amounts) Verdict {
	v := Verdict{Budget: -1}
	for i, l := range leases {
		want := min(max(ask[l.Unit], 0), MostMax)
		if want == 0 || now < l.Ends && l.Credit >= want {
			continue
		}
		after := time.Duration(0)
		if l.Dry != 0 {
			after = max(l.Dry.Sub(now), 1) // more is asked for, and nobody waits for it
		}
		if v.Budget < 0 || after > v.After {
			v = Verdict{Reason: why(l.Unit, after), Budget: i, After: after}
		}
	}
	if v.Budget >= 0 {
		return v
	}
	for _, l := range leases {
		l.Credit -= min(max(ask[l.Unit], 0), MostMax)
	}
	return Verdict{Reason: reason.None, Budget: -1}
}
