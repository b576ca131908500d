package quota

import (
	"errors"
	"fmt"
)

// State is what is known of a call.
type State uint8

// The states; see the package's picture.
const (
	Reserved State = iota // budgets are taken, the call has not been sent
	Started               // its start marker is written: it may run
	Unknown               // it may have run, or run still; nobody knows
	Settled               // its end is known
	Released              // it never ran
)

var stateNames = [...]string{"reserved", "started", "unknown", "settled", "released"}

// String returns the state's name.
func (s State) String() string {
	if int(s) < len(stateNames) {
		return stateNames[s]
	}
	return fmt.Sprintf("state(%d)", uint8(s))
}

// Final reports whether nothing can happen to it any more.
func (s State) Final() bool { return s >= Settled }

// Reservation is what one attempt of a call has taken. It is a value.
type Reservation struct {
	State State
	// Attempt is the fence: whoever writes names the attempt that it knows.
	Attempt int64
	// Taken is what Decide took.
	Taken Amounts
	// At is when it did.
	At Time
}

// The ways in which something said of a reservation can be wrong. They change
// nothing.
var (
	// ErrStale: it was said of an earlier attempt. What that used is evidence about
	// that attempt's own reservation.
	ErrStale = errors.New("said of another attempt")
	// ErrOver: the reservation is final, its end has been told before.
	ErrOver = errors.New("it is over")
	// ErrStarted: it may have run; only evidence of its end gives its slot back.
	ErrStarted = errors.New("it may have started")
	// ErrNotStarted: it has not been started.
	ErrNotStarted = errors.New("it has not been started")
)

// Start writes the start marker: from here on the call may run.
func (r *Reservation) Start(attempt int64) error {
	if err := r.about(attempt); err != nil {
		return err
	}
	if r.State != Reserved {
		return ErrStarted
	}
	r.State = Started
	return nil
}

// Lose reports that nobody knows what became of the call: its answer was lost, its
// caller gave up, its owner died. The slot stays taken.
func (r *Reservation) Lose(attempt int64) error {
	switch err := r.about(attempt); {
	case err != nil:
		return err
	case r.State == Reserved:
		return ErrNotStarted
	}
	r.State = Unknown
	return nil
}

// Orphan reports that the owner is dead. What had not been started is released,
// and what had is unknown at once, and never free.
func (r *Reservation) Orphan(attempt int64, now Time, budgets []Budget) error {
	if r.State == Reserved {
		return r.Release(attempt, now, budgets)
	}
	return r.Lose(attempt)
}

// Release gives everything back: the call provably never started.
func (r *Reservation) Release(attempt int64, now Time, budgets []Budget) error {
	switch err := r.about(attempt); {
	case err != nil:
		return err
	case r.State != Reserved:
		return ErrStarted
	}
	r.State = Released
	r.giveBack(now, budgets, Amounts{}, true)
	return nil
}

// Settle records what the call used, which frees its slot. It ends what was
// unknown too: a late answer is evidence. What was used beyond the estimate is
// charged, also below 0; what was not used is refunded where the limit says so.
func (r *Reservation) Settle(attempt int64, now Time, budgets []Budget, used Amounts) error {
	switch err := r.about(attempt); {
	case err != nil:
		return err
	case r.State == Reserved:
		return ErrNotStarted
	}
	r.State = Settled
	r.giveBack(now, budgets, used, false)
	return nil
}

// ResolveNotStarted ends what is unknown by evidence from outside, the provider's
// own record say, that the call never ran.
func (r *Reservation) ResolveNotStarted(attempt int64, now Time, budgets []Budget) error {
	switch err := r.about(attempt); {
	case err != nil:
		return err
	case r.State != Unknown:
		return ErrStarted
	}
	r.State = Released
	r.giveBack(now, budgets, Amounts{}, true)
	return nil
}

// about returns why nothing can be said of this attempt, or nil.
func (r *Reservation) about(attempt int64) error {
	switch {
	case attempt != r.Attempt:
		return ErrStale
	case r.State.Final():
		return ErrOver
	}
	return nil
}

// giveBack ends what the budgets hold for the reservation and corrects what they
// have spent by what was used.
func (r *Reservation) giveBack(now Time, budgets []Budget, used Amounts, never bool) {
	for i := range budgets {
		b := &budgets[i]
		*b = b.advanced(now)
		taken := r.Taken.of(b)
		b.Held -= taken
		if b.Limit.Unit == Concurrent {
			continue
		}
		spare := taken - used.of(b)
		if spare > 0 && (!never && !b.Limit.Refund || b.renewed(r.At)) {
			continue
		}
		b.Left = min(max(b.Left+spare, -MostMax), b.Limit.Most)
		b.Spent -= spare
	}
}

// renewed reports whether a new window has begun since: what was spent in an
// earlier one is no credit in this.
func (b *Budget) renewed(since Time) bool {
	if !b.Limit.Windowed() {
		return false
	}
	from, _ := b.Limit.Window.bounds(b.At)
	return since.Wall < from
}
