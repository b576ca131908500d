package tally

import (
	"fmt"

	"github.com/spillway-dev/spillway/policy/reason"
)

// Tally is the account of one class or one tenant. The zero value is an empty
// account.
type Tally struct {
	Offered int64
	// Waiting counts the waiting room and the producers blocked before it.
	Waiting int64
	// Running counts requests that hold a slot and whose caller waits.
	Running int64
	// Abandoned counts work whose caller has been answered and that holds its
	// slot still. It is no part of the sum: its answer is among Answered.
	Abandoned int64
	// Answered counts requests by the reason of their answer.
	Answered [reason.Count]int64
}

// Total returns the number of requests answered, for whatever reason.
func (t *Tally) Total() int64 {
	var n int64
	for _, a := range t.Answered {
		n += a
	}
	return n
}

// Add adds u's figures to t.
func (t *Tally) Add(u *Tally) {
	t.Offered += u.Offered
	t.Waiting += u.Waiting
	t.Running += u.Running
	t.Abandoned += u.Abandoned
	for r, n := range u.Answered {
		t.Answered[r] += n
	}
}

// Check returns an error unless the account closes and nothing in it is
// negative.
func (t *Tally) Check() error {
	if t.Waiting < 0 || t.Running < 0 || t.Abandoned < 0 {
		return fmt.Errorf("waiting %d, running %d, abandoned %d: none may be negative", t.Waiting, t.Running, t.Abandoned)
	}
	if t.Answered[reason.None] != 0 {
		return fmt.Errorf("%d requests answered without a reason", t.Answered[reason.None])
	}
	if total := t.Total(); t.Offered != total+t.Waiting+t.Running {
		return fmt.Errorf("offered %d != answered %d + waiting %d + running %d", t.Offered, total, t.Waiting, t.Running)
	}
	return nil
}

// Sub takes u's figures from t.
func (t *Tally) Sub(u *Tally) {
	t.Offered -= u.Offered
	t.Waiting -= u.Waiting
	t.Running -= u.Running
	t.Abandoned -= u.Abandoned
	for r, n := range u.Answered {
		t.Answered[r] -= n
	}
}
