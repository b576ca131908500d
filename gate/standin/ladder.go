package standin

import (
	"context"
	"errors"
	"time"

	"github.com/spillway-dev/spillway/gate"
	"github.com/spillway-dev/spillway/policy/ladder"
	"github.com/spillway-dev/spillway/policy/reason"
)

// Rung is one cheaper answer. LastKnown, Default and Computed make them.
type Rung[T any] struct {
	rung   ladder.Rung
	answer func(ctx context.Context, key string) (T, time.Duration, error)
	learn  func(key string, v T)
}

// ErrNothing is what a computed rung returns that has nothing for a key.
var ErrNothing = errors.New("no stand-in for this key")

// LastKnown is the primary's last answer for the key, rung last_known. Do has the
// store learn it.
func LastKnown[T any](s *Store[T]) Rung[T] {
	return Rung[T]{
		rung: ladder.Rung{Name: ladder.LastKnown},
		answer: func(_ context.Context, key string) (T, time.Duration, error) {
			v, age, ok := s.Get(key)
			if !ok {
				return v, 0, ErrNothing
			}
			return v, age, nil
		},
		learn: s.Put,
	}
}

// Default is the same value for every key, rung default.
func Default[T any](v T) Rung[T] {
	return Rung[T]{
		rung:   ladder.Rung{Name: ladder.Default},
		answer: func(context.Context, string) (T, time.Duration, error) { return v, 0, nil },
	}
}

// Computed is an answer that the program works out, or gets from a cheaper service,
// under a name of its own. It is not asked when less than needs is left of the
// time. Any error means that it has nothing, and the next rung is asked; one that is
// a service should be asked through a gate of its own, so that it is never offered
// more than it can do.
func Computed[T any](name string, needs time.Duration, f func(ctx context.Context, key string) (T, error)) Rung[T] {
	return Rung[T]{
		rung: ladder.Rung{Name: name, Needs: needs},
		answer: func(ctx context.Context, key string) (T, time.Duration, error) {
			v, err := f(ctx, key)
			return v, 0, err
		},
	}
}

// LadderOptions is what holds for all rungs of a ladder. The zero value serves.
type LadderOptions struct {
	// Reserve is kept back of the context's deadline, so that a stand-in is there
	// before it; at most half of what is left is. Default ReserveDefault; less than
	// 0: nothing.
	Reserve time.Duration
	// Final reports whether an error of the primary is its answer, such as that
	// there is no such customer: it is returned as it is. nil: no error is.
	Final func(error) bool
}

// ReserveDefault is what a ladder keeps back that says nothing of it.
const ReserveDefault = ladder.ReserveDefault

// Ladder is the cheaper answers below a primary. It is not changed once made and
// safe for concurrent use.
type Ladder[T any] struct {
	order   ladder.Ladder
	rungs   []Rung[T]
	reserve time.Duration
	final   func(error) bool
}

// NewLadder returns the ladder of these rungs, best first. A name that is there
// already gets "-2". The error names the rung and what would be right.
func NewLadder[T any](o LadderOptions, rungs ...Rung[T]) (*Ladder[T], error) {
	order := make([]ladder.Rung, len(rungs))
	for i, r := range rungs {
		order[i] = r.rung
	}
	l, err := ladder.New(order...)
	if err != nil {
		return nil, err
	}
	if o.Reserve == 0 {
		o.Reserve = ReserveDefault
	}
	return &Ladder[T]{order: l, rungs: rungs, reserve: max(o.Reserve, 0), final: o.Final}, nil
}

// Answer says where an answer is from.
type Answer struct {
	// Rung is primary, a rung's name, or refusal where there is no answer.
	Rung string
	// Reason is served, or why it is not the primary's.
	Reason reason.Reason
	// Age is how old it is, 0 for what was made just now.
	Age time.Duration
}

// Do asks the primary and returns its answer, which the ladder's stores learn. If it
// returns an error, the best rung that has something answers instead, without one.
// Where none has, the primary's error is returned, and so it is where the caller has
// gone or the reason is none that steps down (see policy/ladder).
//
// The primary is run on the caller's goroutine with the deadline less the reserve;
// it must return when its context ends, as what gate/caller makes of a call does.
// Its error decides the reason: that of a gate.Refusal, a reason.Reason in it,
// timeout for a deadline that passed, else failed.
//
// Without a deadline Do allocates nothing of its own.
func Do[T any](ctx context.Context, l *Ladder[T], key string, primary func(context.Context) (T, error)) (T, Answer, error) {
	v, err := l.ask(ctx, primary)
	if err != nil {
		return l.Instead(ctx, key, err)
	}
	for i := range l.rungs {
		if learn := l.rungs[i].learn; learn != nil {
			learn(key, v)
		}
	}
	return v, Answer{Rung: ladder.Primary, Reason: reason.Served}, nil
}

func (l *Ladder[T]) ask(ctx context.Context, primary func(context.Context) (T, error)) (T, error) {
	if deadline, ok := ctx.Deadline(); ok && l.reserve > 0 {
		left := time.Until(deadline)
		var cancel context.CancelFunc
		ctx, cancel = context.WithDeadline(ctx, deadline.Add(ladder.InTime(left, l.reserve)-left))
		defer cancel()
	}
	return primary(ctx)
}

// Instead returns what the ladder says instead of an answer that did not come, such
// as that of a request whose admission was refused with this error.
func (l *Ladder[T]) Instead(ctx context.Context, key string, err error) (T, Answer, error) {
	why := l.reason(ctx, err)
	left := func() time.Duration {
		deadline, ok := ctx.Deadline()
		if !ok {
			return 1<<63 - 1
		}
		return time.Until(deadline)
	}
	if l.final != nil && l.final(err) {
		var none T
		return none, Answer{Rung: ladder.Refusal, Reason: why}, err
	}
	d, step := l.order.Descend(why, left())
	for !step.Refused() {
		if v, age, missed := l.rungs[step.Rung].answer(ctx, key); missed == nil {
			return v, Answer{Rung: step.Name, Reason: step.Reason, Age: age}, nil
		}
		step = d.Missed(left())
	}
	var none T
	return none, Answer{Rung: step.Name, Reason: step.Reason}, err
}

// reason is what an error of the primary stands for.
func (l *Ladder[T]) reason(ctx context.Context, err error) reason.Reason {
	if refused, ok := errors.AsType[*gate.Refusal](err); ok {
		return refused.Reason
	}
	if why, ok := errors.AsType[reason.Reason](err); ok {
		return why
	}
	switch {
	case errors.Is(ctx.Err(), context.Canceled):
		return reason.CallerGone
	case errors.Is(err, context.DeadlineExceeded):
		return reason.Timeout
	}
	return reason.Failed
}
