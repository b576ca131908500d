package quota

import (
	"fmt"
	"math/bits"
	"time"
)

// Foresee returns what Decide would say of an ask once those ahead have taken
// theirs: with a reason, After is in how long that would be. It is an optimistic
// answer: nobody else comes first, and nobody ahead is refused. It changes nothing.
// holding is how long a slot is held; 0 where nobody knows, and then nothing is
// foreseen of slots but what exceeds them.
func Foresee(now Time, budgets []Budget, ahead, ask Amounts, holding time.Duration) Verdict {
	v := Verdict{Budget: -1}
	for i := range budgets {
		b := budgets[i].advanced(now)
		want := ask.of(&b)
		lacks := want + ahead.of(&b) - b.room()
		if want == 0 || lacks <= 0 && want <= b.Limit.Most {
			continue
		}
		if after := b.gains(want, lacks, now, holding); v.Budget < 0 || after > v.After {
			v = Verdict{Reason: why(b.Limit.Unit, after), Budget: i, After: after}
		}
	}
	return v
}

// gains returns in how long so much more can be taken than is there, by askers of
// which the last wants so much.
func (b *Budget) gains(want, lacks int64, now Time, holding time.Duration) time.Duration {
	l := &b.Limit
	switch {
	case want > l.Most:
		return Forever
	case l.Unit == Concurrent:
		each := uint64(min(max(holding, 0), holdingMax))
		hi, lo := bits.Mul64(each, uint64(lacks))
		if hi >= uint64(l.Most) {
			return Forever - 1
		}
		after, _ := bits.Div64(hi, lo, uint64(l.Most))
		return time.Duration(min(after, uint64(Forever-1)))
	case l.Windowed():
		_, next := l.Window.bounds(b.At)
		return min(next.Sub(now.Wall), Forever-1-windowsMax) + min(time.Duration((lacks-1)/l.Most), windowsMax/day)*l.Window.least()
	}
	return min(b.At.Add(b.lasts(lacks)).Sub(now.Run), Forever-1)
}

const (
	day = 24 * time.Hour
	// holdingMax keeps products inside what can be divided: longer than any call.
	holdingMax = 366 * day
	// windowsMax bounds how far ahead windows are counted: nobody waits so long.
	windowsMax = 28 * 366 * day
)

// least is how long a window lasts at the least.
func (w Window) least() time.Duration {
	if w.Period == Month {
		return 28 * day
	}
	return 23 * time.Hour
}

// Lacked takes in that a store which knows more had no room for so much, and would
// have it in that time: then there is less than there was taken to be. Of slots it
// says nothing that stays true, for they come free at any moment.
func (b *Budget) Lacked(now Time, want int64, after time.Duration) {
	l := &b.Limit
	*b = b.advanced(now)
	switch {
	case l.Unit == Concurrent || want > l.Most:
	case l.Windowed():
		b.Left = min(b.Left, want-1)
	default:
		hi, lo := bits.Mul64(uint64(max(after, 0)), uint64(l.Refill))
		if hi < uint64(l.Every) {
			gain, _ := bits.Div64(hi, lo, uint64(l.Every))
			b.Left = max(min(b.Left, want-int64(min(gain, uint64(MostMax)))), -MostMax)
		}
	}
}

// OfTenant returns the limits of one tenant, and OfModel those of one model.
func (q *Quota) OfTenant(name string) []Ref { return instead(q.Tenants, name, q.Tenant) }

// OfModel returns the limits of one model.
func (q *Quota) OfModel(name string) []Ref { return instead(q.Models, name, q.Model) }

// Interval is how long the limit takes to give one more of such a call: what keeps
// callers apart who are told to come back. A window gives all at once: 0.
func (l *Limit) Interval(ask Amounts, holding time.Duration) time.Duration {
	want := min(max(ask[l.Unit], 1), l.Most)
	switch {
	case l.Unit == Concurrent:
		return max(holding, 0) / time.Duration(l.Most)
	case l.Windowed():
		return 0
	}
	b := Budget{Limit: *l}
	return b.lasts(want)
}

// Validate returns what is wrong with the quota's limits, or nil.
func (q *Quota) Validate() error {
	for _, refs := range [...][]Ref{q.All, q.Tenant, q.Model} {
		for i := range refs {
			if err := refs[i].Limit.Validate(); err != nil {
				return fmt.Errorf("quota %s: %w", q.Name, err)
			}
		}
	}
	return nil
}
