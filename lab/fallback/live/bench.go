package live

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"time"

	"github.com/spillway-dev/spillway/lab/parts"
	"github.com/spillway-dev/spillway/report"
	"github.com/spillway-dev/spillway/sim/store"
)

// ErrWrong is in an error that says that a round's records do not fit together, or that an
// answer was not right.
var ErrWrong = errors.New("live: not as it must be")

// Bench plays rounds, one at a time.
type Bench struct{ bench *parts.Bench }

// NewBench returns a bench whose parts are started by running what start makes: a
// process that calls [Part] with that name, its standard input and its standard output.
func NewBench(start func(part string) *exec.Cmd) *Bench { return &Bench{parts.NewBench(start)} }

// Indices of the parts in a plan.
const (
	theStore = iota
	theService
	theTester
)

// plan is the round as its parts are told of it.
func (r *Round) plan() parts.Plan[spec] {
	return parts.Plan[spec]{Parts: []string{Store, Service, Tester}, Spec: func(string) spec { return spec{*r, r.flatOut} }, Warm: warmUp}
}

// told is what the parts told of a round.
type told struct {
	tester  tested
	service []asked
	store   []held
}

// Play plays a round, hands w every request and every lookup, and returns its account. When ctx ends the
// processes are ended and its error is returned.
func (b *Bench) Play(ctx context.Context, r Round, w store.Watch) (store.Sums, Facts, error) {
	if err := r.Validate(); err != nil {
		return store.Sums{}, Facts{}, err
	}
	f := Facts{Machine: b.bench.Settle(ctx)}
	var all told
	err := parts.Run(ctx, b.bench, r.plan(), &f.Machine, func(t *parts.Team) error {
		if err := t.Result(theTester, &all.tester); err != nil {
			return err
		}
		return t.Rest(ctx, func() error { // what still waits in the store sleeps
			if err := t.Result(theService, &all.service); err != nil {
				return err
			}
			return t.Result(theStore, &all.store)
		})
	})
	if err != nil {
		return store.Sums{}, f, err
	}
	sums, err := r.hand(&all, w, &f)
	return sums, f, err
}

// Capacity measures how many requests a second the service answers under the policy
// of a round, asked by all senders without a pause, of a store that does not wait.
func (b *Bench) Capacity(ctx context.Context, r Round) (report.Number, error) {
	if err := r.Validate(); err != nil {
		return report.None(), err
	}
	m := b.bench.Settle(ctx)
	r.flatOut, r.Rest, r.Deadline = capacityFor, 0, 0
	var all tested
	err := parts.Run(ctx, b.bench, r.plan(), &m, func(t *parts.Team) error { return t.Result(theTester, &all) })
	if err == nil && all.Wrong > 0 {
		err = fmt.Errorf("%w: %d answers were wrong, the first: %s", ErrWrong, all.Wrong, all.First)
	}
	return report.Number(all.PerS), err
}

// capacityFor is how long capacity is measured, after the warm-up.
const capacityFor = 2 * time.Second
