package sim

import (
	"time"

	"github.com/spillway-dev/spillway/policy/spread"
	"github.com/spillway-dev/spillway/policy/unit"
)

// oneCopy is a copy's servers and its line.
type oneCopy struct {
	slots int // 0 is without limit
	busy  int
	line  line // with places of those who have left it
}

// free reports whether there is a server for one more.
func (c *oneCopy) free() bool { return c.slots == 0 || c.busy < c.slots }

// open makes the copies. A single one needs nobody to choose.
func (u *upstream) open(seed uint64) {
	n := max(u.Copies, 1)
	u.copies = make([]oneCopy, n)
	u.setSlots(u.Slots)
	if n == 1 {
		return
	}
	u.spread = spread.New(u.Spread, seed)
	for i := range u.copies {
		c, _ := u.spread.Add(0, false)
		u.spread.Weigh(0, c, u.weight(i))
	}
}

// take gives the attempt the copy whose turn it is.
func (u *upstream) take(now unit.Instant, a *attempt, beside spread.Copy) {
	a.copy, a.sent, a.judged = 0, now, false
	if u.spread != nil {
		a.copy, _ = u.spread.Take(now, beside)
	}
}

// judge says what came of the attempt's call, the first time that it is said.
func (u *upstream) judge(now unit.Instant, a *attempt, o spread.Outcome) {
	if u.spread != nil && !a.judged {
		u.spread.Judge(now, a.copy, o, time.Duration(now-a.sent))
	}
	a.judged = true
}

// give gives the copy back.
func (u *upstream) give(a *attempt) {
	if u.spread != nil {
		u.spread.Done(a.copy)
	}
}
