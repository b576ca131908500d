package caller

import (
	"context"
	"log"
	"sync"
	"sync/atomic"
	"time"

	"github.com/spillway-dev/spillway/gate/internal/lock"
	"github.com/spillway-dev/spillway/policy/call"
	"github.com/spillway-dev/spillway/policy/unit"
)

// Caller is what all calls to one dependency share. Create it with New.
type Caller struct {
	epoch    time.Time
	hedges   atomic.Bool // a second attempt may run beside a first
	repeats  atomic.Bool // anything may be sent more than once
	classify func(error) call.Outcome
	onPanic  func(value any, stack []byte)

	// The pools are the caller's own, for what has to do with time may not leave a
	// synctest bubble.
	runs   sync.Pool // of *run[T], of whatever T was last
	alarms sync.Pool // of *alarm

	// mu guards the machine, and of every call what says so. It is held for one
	// fact at a time, never while waiting or while anybody else's code runs.
	mu         lock.Mutex
	dependency *call.Dependency
	spare      spare
}

// Option changes what a Caller does beside deciding.
type Option func(*Caller)

// Classify has f say what an attempt's error means. f is not asked about nil, which
// is an answer. It may fall back on DefaultOutcome.
func Classify(f func(error) call.Outcome) Option { return func(c *Caller) { c.classify = f } }

// OnPanic has f told of panics that nobody is left to see: of a hedge whose call has
// been answered. Without it they are logged.
func OnPanic(f func(value any, stack []byte)) Option { return func(c *Caller) { c.onPanic = f } }

// New returns a caller for a dependency that is called under the policy, or the
// policy's faults.
func New(p call.Policy, opts ...Option) (*Caller, error) {
	d, err := call.New(p)
	if err != nil {
		return nil, err
	}
	c := &Caller{
		epoch:      time.Now(),
		classify:   DefaultOutcome,
		onPanic:    logPanic,
		dependency: d,
	}
	c.heed(p)
	c.alarms.New = func() any { return newAlarm(c) }
	for _, o := range opts {
		o(c)
	}
	return c, nil
}

// Reconfigure puts the policy in the place of the one before, or changes nothing and
// returns the policy's faults. What was measured and spent stays, as do breaker and calls
// in flight.
func (c *Caller) Reconfigure(p call.Policy) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.dependency.Reconfigure(c.Now(), p); err != nil {
		return err
	}
	c.heed(p)
	return nil
}

func (c *Caller) heed(p call.Policy) {
	hedges := p.Hedge.After > 0 || p.Hedge.Percentile > 0
	c.hedges.Store(hedges)
	c.repeats.Store(hedges || p.Retries > 0)
}

// State returns what a page or a metric shows of the dependency. It takes about a
// microsecond, under the lock.
func (c *Caller) State() call.State {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.dependency.State(c.Now())
}

// Repeats reports whether the policy can send anything more than once: if not,
// there is no need to keep a request for it.
func (c *Caller) Repeats() bool { return c.repeats.Load() }

// Now returns the caller's time: nanoseconds since its making, monotonic.
func (c *Caller) Now() unit.Instant { return unit.Instant(time.Since(c.epoch)) }

// With shows f the dependency's machine, at the present instant and under the lock: f
// must be quick, and must not use the Caller.
func (c *Caller) With(f func(now unit.Instant, d *call.Dependency)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	f(c.Now(), c.dependency)
}

func (c *Caller) time(t unit.Instant) time.Time { return c.epoch.Add(time.Duration(t)) }

// deadline returns when the answer is wanted: the context's deadline (outer), or the
// request's where that is sooner. Never where nothing says so.
func (c *Caller) deadline(ctx context.Context, now unit.Instant, timeout time.Duration) (due, outer unit.Instant) {
	due, outer = unit.Never, unit.Never
	if timeout > 0 {
		due = now.Add(timeout)
	}
	if d, ok := ctx.Deadline(); ok {
		outer = unit.Instant(d.Sub(c.epoch))
		if d == d.Round(0) {
			outer = now.Add(time.Until(d)) // by the wall clock alone: as far away as that says now
		}
	}
	return min(due, outer), outer
}

func logPanic(value any, stack []byte) {
	log.Printf("caller: panic in a hedge whose call was answered: %v\n%s", value, stack)
}
