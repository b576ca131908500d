package quota

import (
	"github.com/spillway-dev/spillway/policy/reason"
	"github.com/spillway-dev/spillway/policy/unit"
)

// Verdict is what an ask is told.
type Verdict struct {
	// Reason is None if everything was taken.
	Reason reason.Reason
	// Budget is the index of the one that refuses: of those without room the one
	// that has room last. -1 if none does.
	Budget int
	// At is when that one has room if nobody else comes first; for slots, when the
	// first is expected to come free, and now where nobody knows. unit.Never if it
	// can never be.
	At unit.Instant
}

// OK reports whether the ask was granted.
func (v Verdict) OK() bool { return v.Reason == reason.None }

// Never reports that the ask is larger than a limit itself: coming back changes
// nothing, and its answer is final.
func (v Verdict) Never() bool { return v.At == unit.Never }

// Decide takes what is asked from every budget, or from none. Amounts below 0
// count as 0. A budget takes of the ask what its unit says, so that one list may
// hold several of a unit: the provider's and the tenant's.
func Decide(now unit.Instant, budgets []Budget, ask Amounts) Verdict {
	v := Verdict{Budget: -1}
	for i := range budgets {
		b := budgets[i].advanced(now)
		want := ask.of(&b)
		if want == 0 || b.room() >= want {
			continue
		}
		if at := b.fits(want, now); v.Budget < 0 || at > v.At {
			v = Verdict{Reason: why(b.Limit.Unit, at), Budget: i, At: at}
		}
	}
	if v.Budget >= 0 {
		return v
	}
	for i := range budgets {
		b := &budgets[i]
		*b = b.advanced(now)
		b.take(ask.of(b))
	}
	return v
}

// of returns how much of the amounts a budget is about.
func (a *Amounts) of(b *Budget) int64 { return min(max(a[b.Limit.Unit], 0), MostMax) }

// room is how much can be taken of a budget that is as of now.
func (b *Budget) room() int64 {
	if b.Limit.Unit == Concurrent {
		return b.Limit.Most - b.Held
	}
	return b.Left
}

// take spends of a budget that is as of now.
func (b *Budget) take(n int64) {
	b.Held += n
	if b.Limit.Unit != Concurrent {
		b.Left -= n
	}
}

// why is the reason for which a budget of that unit refuses.
func why(u Unit, at unit.Instant) reason.Reason {
	switch {
	case at == unit.Never:
		return reason.TooLarge
	case u == Concurrent:
		return reason.QuotaConcurrency
	case u == Requests:
		return reason.QuotaRequests
	}
	return reason.QuotaTokens
}
