package ledger

import (
	"context"
	"fmt"
	"time"

	"github.com/spillway-dev/spillway/policy/quota"
	"github.com/spillway-dev/spillway/policy/unit"
)

// Statement is what a record outside says of a call.
type Statement struct {
	Said quota.Recorded
	// Used is what it used, if it has ended and that is known; else what it was counted
	// with.
	Used *quota.Amounts
	// Evidence is the answer in words.
	Evidence string
}

// Resolver ends calls that are unknown by what a record outside says of them.
type Resolver struct {
	Rule quota.Reconcile
	// Ask asks the record. It is called for one call at a time.
	Ask func(context.Context, Call) (Statement, error)
	// Told is called with each answer, and with whether it has ended the call.
	Told func(c Call, a Statement, ended bool, err error)
}

// resolveMost is how many calls a process watches at once. Those beyond come later.
const resolveMost = 10_000

// Resolve looks at what is unknown until ctx ends, and asks about what its rule says. A
// call has been unknown for as long as this process knows of it: no clock that is set
// makes it longer, and a restart begins anew. Several processes may do so at once.
func (l *Ledger) Resolve(ctx context.Context, r Resolver) error {
	if r.Rule.After <= 0 {
		return fmt.Errorf("a record is asked after %v; give a time", r.Rule.After)
	}
	w := &watched{began: time.Now(), since: map[Key]*doubt{}}
	tick := time.NewTicker(min(max(r.Rule.After/4, time.Millisecond), time.Minute))
	defer tick.Stop()
	for {
		if err := l.resolve(ctx, r, w); err != nil && ctx.Err() == nil && r.Told != nil {
			r.Told(Call{}, Statement{}, false, err)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
	}
}

// watched are the calls that a process knows to be unknown.
type watched struct {
	began time.Time
	since map[Key]*doubt
}

type doubt struct {
	call         Call
	since, asked unit.Instant
	there        bool // in the latest look
}

func (l *Ledger) resolve(ctx context.Context, r Resolver, w *watched) error {
	now := unit.Instant(time.Since(w.began))
	for _, d := range w.since {
		d.there = false
	}
	err := l.store.View(ctx, func(rows Rows) error {
		return rows.Open(func(c Call) error {
			k := Key{c.ID, c.Attempt}
			switch d := w.since[k]; {
			case c.State != quota.Unknown:
			case d != nil:
				d.there = true
			case len(w.since) < resolveMost:
				w.since[k] = &doubt{call: c, since: now, there: true}
			}
			return nil
		})
	})
	if err != nil {
		return unavailable(err)
	}
	for k, d := range w.since {
		switch {
		case !d.there:
			delete(w.since, k)
		case now >= r.Rule.Ask(d.since, d.asked):
			d.asked = now
			if l.ask(ctx, r, d.call) {
				delete(w.since, k)
			}
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	return nil
}

// ask asks about a call, and reports whether it has ended by that.
func (l *Ledger) ask(ctx context.Context, r Resolver, c Call) (ended bool) {
	a, err := r.Ask(ctx, c)
	if err != nil {
		a.Said = quota.CannotTell
	}
	ends, notStarted := r.Rule.Ends(a.Said)
	if ends {
		known := Known{NotStarted: notStarted, Used: c.Taken, Evidence: a.Evidence}
		if a.Used != nil {
			known.Used = *a.Used
		}
		err = l.Reconcile(ctx, c.ID, c.Attempt, known)
		ended = err == nil
	}
	if r.Told != nil {
		r.Told(c, a, ended, err)
	}
	return ended
}
