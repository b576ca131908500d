package quota

import (
	"time"

	"github.com/spillway-dev/spillway/policy/reason"
)

// Verdict is what an ask is told.
type Verdict struct {
	// Reason is None if everything was taken.
	Reason reason.Reason
	// Budget is the index of the one that refuses: of those without room the one
	// that has room last. -1 if none does.
	Budget int
	// After is in how long that one has room if nobody else comes first; for slots,
	// in how long the first is expected to come free, and 0 where nobody knows.
	// Forever if it can never be.
	After time.Duration
}

// OK reports whether the ask was granted.
func (v Verdict) OK() bool { return v.Reason == reason.None }

// Never reports that the ask is larger than a limit itself: coming back changes
// nothing, and its answer is final.
func (v Verdict) Never() bool { return v.After == Forever }

// Decide takes what is asked from every budget, or from none. Amounts below 0
// count as 0. A budget takes of the ask what its unit says, so that one list may
// hold several of a unit: the provider's and the tenant's.
func Decide(now Time, budgets []Budget, ask Amounts) Verdict {
	v := Verdict{Budget: -1}
	for i := range budgets {
		b := budgets[i].advanced(now)
		want := ask.of(&b)
		if want == 0 || b.room() >= want {
			continue
		}
		if after := b.fits(want, now); v.Budget < 0 || after > v.After {
			v = Verdict{Reason: why(b.Limit.Unit, after), Budget: i, After: after}
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
		b.Spent += n
	}
}

// why is the reason for which a budget of that unit refuses.
func why(u Unit, after time.Duration) reason.Reason {
	switch {
	case after == Forever:
		return reason.TooLarge
	case u == Concurrent:
		return reason.QuotaConcurrency
	case u == Requests:
		return reason.QuotaRequests
	}
	return reason.QuotaTokens
}
