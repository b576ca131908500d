package ledger

import (
	"context"
	"time"
)

// Sweep removes attempts whose end is known and that were reserved longer ago than
// keep, and returns how many. What is not final, and what is unknown, stays however
// old it is. It takes groupMost at a time, so that those who wait for a verdict wait
// for no more than that; what the removed have cost stays on the account.
func (l *Ledger) Sweep(ctx context.Context, keep time.Duration) (removed int, err error) {
	for {
		var over []Key
		err := l.store.View(ctx, func(r Rows) (err error) {
			over, err = r.Over(r.Time().Wall.Add(-keep), groupMost)
			return err
		})
		if err != nil || len(over) == 0 {
			return removed, err
		}
		n := 0
		err = l.group.do(ctx, Touches{Calls: over}, func(r Rows) (err error) {
			n, err = remove(r, over)
			return err
		})
		removed += n
		if err != nil || len(over) < groupMost {
			return removed, err
		}
	}
}

func remove(r Rows, over []Key) (n int, err error) {
	for _, k := range over {
		c, there, err := r.Call(k.ID, k.Attempt)
		if err != nil {
			return 0, err
		}
		if !there || !c.State.Final() {
			continue // another process was quicker
		}
		if err := r.Remove(c); err != nil {
			return 0, err
		}
		n++
	}
	return n, nil
}
