package call

import (
	"time"

	"github.com/spillway-dev/spillway/policy/unit"
)

// Times of a budget by share.
const (
	// BudgetWindow is how far back it looks, and BudgetStep by what that slides.
	BudgetWindow = 10 * time.Second
	BudgetStep   = 500 * time.Millisecond
	// BudgetFloorEvery is how long one of the floor takes to come back. A fleet
	// of a thousand clients with little to do would else have a floor that is
	// larger than what they send.
	BudgetFloorEvery = 30 * time.Second
)

// whole is one retry, or the whole of a share, in the millionths that budgets and
// breakers count in.
const whole = 1_000_000

// millionths returns a percentage of whole: 10 % is 100,000.
func millionths(percent float64) int64 {
	return int64(float64(min(max(percent, 0), 1e6) * (whole / 100)))
}

// budget bounds what is sent beside first attempts, retries of all calls together
// (or hedges, out of a budget of their own).
//
// What may be sent is reserved when it is scheduled and spent when it is sent.
// Calls that fail at the same instant then share one budget however long they
// pause, and what is scheduled and never sent costs nothing. The base is a window
// of first attempts, not those in flight: that would shrink as calls fail, until
// the last had none.
//
// Both counts share the window's steps, so that over any ten seconds no more is
// sent than Percent of the first attempts in them and in the step before, and
// Floor; where calls pause, of the ten seconds in which they were granted. What
// the share does not allow is taken from the floor.
//
// Not safe for concurrent use. A call of a method takes nanoseconds and allocates
// nothing. 256 bytes.
type budget struct {
	off     bool
	percent int64         // in millionths
	floor   time.Duration // until all of it has come back

	tokens, most int64 // of the bucket, in millionths; most 0: no bucket

	restored    unit.Instant                            // when the floor has come back
	lent        int64                                   // of those reserved, what is from the floor
	reserved    int64                                   // scheduled, neither sent nor released
	first, sent int64                                   // in the window
	end         unit.Instant                            // of the newest step
	at          int                                     // its place
	steps       [BudgetWindow/BudgetStep + 1]budgetStep // the newest has just begun
}

type budgetStep struct{ first, sent int32 }

func newBudget(c Budget) budget {
	var b budget
	b.set(c)
	b.tokens = b.most
	return b
}

// set changes the rule and keeps what was counted.
func (b *budget) set(c Budget) {
	c = c.withDefaults()
	b.off, b.percent = c.Off, millionths(c.Percent)
	b.floor = time.Duration(max(c.Floor, 0)) * BudgetFloorEvery
	b.most = int64(max(c.Tokens, 0)) * whole
	b.tokens = min(b.tokens, b.most)
}

// began counts a call's first attempt.
func (b *budget) began(now unit.Instant) {
	b.slide(now)
	b.first++
	b.steps[b.at].first++
}

// answered puts what an answered call is worth into the bucket.
func (b *budget) answered() { b.tokens = min(b.tokens+b.percent, b.most) }

// reserve asks for one more to be sent, later or at once. Each that is granted
// is to be spent or released, once.
func (b *budget) reserve(now unit.Instant) bool {
	switch {
	case b.off:
	case b.most > 0:
		if b.tokens < whole {
			return false
		}
		b.tokens -= whole
	default:
		b.slide(now)
		if (b.sent+b.reserved+1)*whole <= b.first*b.percent {
			break
		}
		restored := max(b.restored, now).Add(BudgetFloorEvery)
		if restored.Sub(now) > b.floor {
			return false
		}
		b.restored = restored
		b.lent++
	}
	b.reserved++
	return true
}

// spend counts one that was reserved and has been sent.
func (b *budget) spend(now unit.Instant) {
	if b.reserved == 0 {
		return
	}
	b.slide(now)
	b.reserved--
	b.lent = min(b.lent, b.reserved)
	b.sent++
	b.steps[b.at].sent++
}

// release gives back one that was reserved and will not be sent.
func (b *budget) release() {
	if b.reserved == 0 {
		return
	}
	b.reserved--
	b.tokens = min(b.tokens+whole, b.most)
	if b.lent > 0 { // the share has then room for one more of the others
		b.lent--
		b.restored = b.restored.Add(-BudgetFloorEvery)
	}
}

// left returns how many more could be reserved now: a million where there is no
// bound.
func (b *budget) left(now unit.Instant) int {
	switch {
	case b.off:
		return countMax
	case b.most > 0:
		return int(b.tokens / whole)
	}
	b.slide(now)
	share := max(b.first*b.percent/whole-b.sent-b.reserved, 0)
	floor := max(b.floor-max(b.restored.Sub(now), 0), 0)
	return int(share) + int(floor/BudgetFloorEvery)
}

// slide forgets the steps that have left the window. A clock that steps back
// moves nothing.
func (b *budget) slide(now unit.Instant) {
	if now >= b.end {
		b.forget(now)
	}
}

func (b *budget) forget(now unit.Instant) {
	if now.Sub(b.end) >= BudgetWindow {
		b.first, b.sent = 0, 0
		b.steps, b.end = [len(b.steps)]budgetStep{}, now.Add(BudgetStep)
		return
	}
	for b.end <= now {
		b.end = b.end.Add(BudgetStep)
		b.at = (b.at + 1) % len(b.steps)
		b.first -= int64(b.steps[b.at].first)
		b.sent -= int64(b.steps[b.at].sent)
		b.steps[b.at] = budgetStep{}
	}
}
