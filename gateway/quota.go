package gateway

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"

	"github.com/spillway-dev/spillway/gate"
	"github.com/spillway-dev/spillway/gateway/copies"
	"github.com/spillway-dev/spillway/policy/quota"
	"github.com/spillway-dev/spillway/policy/reason"
	"github.com/spillway-dev/spillway/provider"
)

// A request of a class under quotas has been reserved for when it is granted its slot.
// From there on each attempt to make its call ends in one of three ways, and the
// ledger is told which:
//
//	unsent   no connection was made, or nothing was to be sent any more
//	settled  the upstream has said all that it had to say
//	lost     anything else: a connection that broke, a caller who left amid an answer,
//	         a call that was cut. Whether the upstream goes on nobody knows
//
// Before the first byte is sent the start marker is on disk.

// markStart writes the start marker of a call that is about to be sent. If the ledger
// cannot take it, nothing is sent, and the request is answered so.
func (x *exchange) markStart() error {
	if _, under := x.permit.Reservation(); !under {
		return nil
	}
	ctx, cancel := context.WithDeadline(x.in.Context(), x.permit.Deadline())
	defer cancel()
	if err := x.permit.Start(ctx); err == nil {
		return nil
	}
	x.unsent = true
	if late := x.late.Load(); late != nil {
		return &refusedError{*late}
	}
	x.outcome = reason.LedgerUnavailable
	if x.in.Context().Err() != nil {
		x.outcome = reason.CallerGone
	}
	return &refusedError{gate.Refusal{Reason: x.outcome, Class: x.class.name}}
}

// spent tells the ledger what became of the call, unless it has been told.
func (x *exchange) spent(known bool, why reason.Reason) {
	r, under := x.permit.Reservation()
	switch {
	case !under:
	case x.unsent:
		x.permit.Unsent("no connection was made")
	case known:
		x.permit.Settle(r.Ask.Amounts)
	default:
		x.permit.Lose(lostBy(why))
	}
}

// lostBy says how it comes that nobody knows the end of a call.
func lostBy(why reason.Reason) string {
	switch why {
	case reason.CallerGone:
		return "its caller left amid the answer"
	case reason.Timeout:
		return "it was cut at its deadline"
	}
	return "the connection to the upstream broke"
}

// undialed reports whether an error says that nothing was sent.
func undialed(err error) bool {
	_, ok := errors.AsType[*copies.DialError](err)
	return ok || errors.Is(err, copies.ErrConnections) || errors.Is(err, errNoCopy)
}

// reserveAgain reserves for a further attempt of a call, which takes of its quotas as
// the first did. nil: there are none, or it is the first, which the gate has reserved
// for.
func (x *exchange) reserveAgain(ctx context.Context, attempt int) (*furtherAttempt, error) {
	r, under := x.permit.Reservation()
	if !under {
		return nil, nil
	}
	f := &furtherAttempt{x: x, r: r}
	if attempt == 1 {
		return f, nil
	}
	f.r.Attempt = int64(attempt)
	if v := x.gateway.reserver.Reserve(ctx, f.r); !v.OK() {
		return nil, fmt.Errorf("another attempt has no budget: %w", v.Reason)
	}
	if err := x.gateway.reserver.Start(ctx, f.r); err != nil {
		f.unsent("its start marker could not be written")
		return nil, fmt.Errorf("another attempt cannot be recorded: %w", err)
	}
	return f, nil
}

// furtherAttempt is one attempt of a call that is made in several. What becomes of it
// is told once, in the background: whoever is answered waits for no disk.
type furtherAttempt struct {
	x    *exchange
	r    gate.Reservation
	once sync.Once
}

func (f *furtherAttempt) first() bool { return f.r.Attempt == 1 }

func (f *furtherAttempt) unsent(why string) {
	f.tell(func(p gate.Permit) { p.Unsent(why) }, func(ctx context.Context) error { return f.x.gateway.reserver.Release(ctx, f.r, why) })
}

func (f *furtherAttempt) settle() { f.settleAs(f.r.Ask.Amounts) }

func (f *furtherAttempt) settleAs(used quota.Amounts) {
	f.tell(func(p gate.Permit) { p.Settle(used) }, func(ctx context.Context) error { return f.x.gateway.reserver.Settle(ctx, f.r, used) })
}

func (f *furtherAttempt) lose(why string) {
	f.tell(func(p gate.Permit) { p.Lose(why) }, func(ctx context.Context) error { return f.x.gateway.reserver.Lose(ctx, f.r, why) })
}

func (f *furtherAttempt) tell(first func(gate.Permit), further func(context.Context) error) {
	f.once.Do(func() {
		if f.first() {
			first(f.x.permit)
			return
		}
		g, c := f.x.gateway, f.x.class
		g.telling.Go(func() {
			if further(context.Background()) == nil {
				c.gate.Freed(c.index)
			}
		})
	})
}

// ended takes in what came of an attempt. An answer's end is that of its body.
func (f *furtherAttempt) ended(res *http.Response, err error) {
	switch {
	case f == nil:
	case err == nil && f.x.priced != nil && res.StatusCode >= http.StatusBadRequest && provider.Judged(res.StatusCode).Ran == provider.NotRun:
		f.settleAs(quota.Amounts{})
	case err == nil:
		res.Body = &accounted{res.Body, f}
	case undialed(err):
		f.unsent(err.Error())
	default:
		f.lose("the attempt broke: " + err.Error())
	}
}

// accounted is the body of an attempt's answer, whose end is the attempt's.
type accounted struct {
	io.ReadCloser
	f *furtherAttempt
}

// Read implements io.Reader.
func (a *accounted) Read(p []byte) (int, error) {
	n, err := a.ReadCloser.Read(p)
	switch {
	case err == io.EOF && a.f.x.priced.takes(a.f):
		// What it has used is known when all of its answer has been read.
	case err == io.EOF:
		a.f.settle()
	case err != nil:
		a.f.lose("its answer broke off: " + err.Error())
	}
	return n, err
}

// Close implements io.Closer: of an answer that was not read to its end nobody knows
// whether it goes on.
func (a *accounted) Close() error {
	if !a.f.x.priced.has(a.f) {
		a.f.lose("its answer was not read to the end")
	}
	return a.ReadCloser.Close()
}

// Failed implements reserve.Seen: the ledger cannot be told something, or asked. It
// logs a sample.
func (j *journal) Failed(what string, err error) {
	kind := refusalKind{class: what, reason: reason.LedgerUnavailable}
	if show, withheld := j.sample.Sample(time.Now(), kind); show {
		j.Warn("the ledger does not answer", "to", what, "error", err, "withheld", withheld)
	}
}

// settleMost is how long the end waits for the ledger to hear what became of calls.
// What it has not heard by then is unknown when it is asked next.
const settleMost = 5 * time.Second

// settleAll waits until the ledger has been told of all that has ended.
func (g *Gateway) settleAll() {
	ctx, cancel := context.WithTimeout(context.Background(), settleMost)
	defer cancel()
	for _, r := range g.current.Load().resources {
		if err := r.gate.WaitSettled(ctx); err != nil {
			g.log.Warn("the ledger was not told of all calls that have ended", "upstream", r.name)
		}
	}
	g.reserver.Close()
	g.telling.Wait()
}
