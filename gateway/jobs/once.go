package jobs

import (
	"context"
	"errors"
	"net/http"
	"sync/atomic"

	"github.com/spillway-dev/spillway/ledger"
	"github.com/spillway-dev/spillway/policy/job"
	"github.com/spillway-dev/spillway/policy/reason"
)

// errHeld ends an offer whose key somebody else has.
var errHeld = errors.New("somebody else has the key")

// Once serves a request that is done once: serve is its way, on a request that its
// caller's leaving ends only before it is begun. The answer is kept before its caller has
// it. What it returns is the claim on its key: Free if it was served, whatever that came
// to; else nothing was written. A reason says that there is no room to keep it, and
// nothing was done.
func (j *Jobs) Once(w http.ResponseWriter, r *http.Request, n ledger.NewJob, serve func(*Writer, *http.Request)) (a ledger.Acceptance, err error) {
	n.Inline, n.Most, n.Each = true, j.Most, j.Each
	k := &Writer{header: http.Header{}, most: j.Answer, to: w}
	var begun atomic.Bool
	ctx, cancel := context.WithCancel(context.WithoutCancel(r.Context()))
	defer cancel()
	stop := context.AfterFunc(r.Context(), func() {
		if !begun.Load() {
			cancel()
		}
	})
	defer stop()
	k.begin = func() error {
		begun.Store(true)
		if a, err = j.Ledger.Accept(ctx, n); err != nil {
			return err
		}
		if a.Claim != job.Free || a.Reason != reason.None {
			return errHeld
		}
		return nil
	}
	var broke any
	func() {
		defer func() { broke = recover() }()
		serve(k, r.WithContext(k.Watch(ctx)))
	}()
	if k.begun {
		_, end := j.settle(n.ID, 1, k, broke != nil)
		if end != nil {
			j.log.Warn("a keyed request's end could not be kept: its key answers that it is under way", "error", end)
		}
	}
	if broke != nil {
		panic(broke)
	}
	if err == nil && a.Claim == job.Free && a.Reason == reason.None {
		k.give()
	}
	return a, err
}
