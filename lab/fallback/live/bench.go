package live

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"runtime"
	"time"

	"github.com/spillway-dev/spillway/report"
	"github.com/spillway-dev/spillway/sim/store"
)

// ErrWrong is in an error that says that a round's records do not fit together, or that an
// answer was not right.
var ErrWrong = errors.New("live: not as it must be")

// Bench plays rounds, one at a time.
type Bench struct {
	start func(part string) *exec.Cmd
	// idle is what was watched after the latest round; nil: nothing yet.
	idle *report.Number
}

// NewBench returns a bench whose parts are started by running what start makes: a
// process that calls [Part] with that name, its standard input and its standard output.
func NewBench(start func(part string) *exec.Cmd) *Bench { return &Bench{start: start} }

// trio is the parts of a round; what asks comes after what it asks.
type trio struct {
	bench *Bench
	parts []*process
}

// lead is how long before the warm-up everything is ready.
const lead = 50 * time.Millisecond

// open starts the parts and the round, and returns when all three have begun.
func (b *Bench) open(r *Round) (*trio, error) {
	t, peer := &trio{bench: b}, ""
	for _, name := range []string{Store, Service, Tester} {
		p, err := launch(name, b.start(name), spec{*r, r.flatOut, peer})
		if err != nil {
			return t, err
		}
		t.parts = append(t.parts, p)
		s, err := p.said()
		if err != nil {
			return t, err
		}
		peer = s.Address
	}
	start := order{time.Now().Add(warmUp + lead).UnixNano()}
	for _, p := range t.parts {
		if err := p.order(start); err != nil {
			return t, err
		}
		if _, err := p.said(); err != nil {
			return t, err
		}
	}
	return t, nil
}

func (t *trio) kill() {
	for _, p := range t.parts {
		p.kill()
	}
}

// result waits for a part's.
func (t *trio) result(i int, into any) (cpu time.Duration, err error) {
	p := t.parts[i]
	if err := p.order(order{}); err != nil {
		return 0, err
	}
	s, err := p.said()
	if err != nil {
		return 0, err
	}
	return s.CPU, json.Unmarshal(s.Result, into)
}

// Indices of trio.parts.
const (
	theStore = iota
	theService
	theTester
)

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
	f := Facts{Cores: runtime.NumCPU(), CPU: map[string]report.Number{}}
	f.Idle = b.settle(ctx)
	f.Quiet, f.Load = isQuiet(f.Idle), loadOf()
	var all told
	err := b.run(ctx, &r, func(t *trio) error {
		before, began := machineTime(), time.Now()
		took := func(name string, cpu time.Duration, err error) error {
			f.CPU[name] = report.Number(cpu.Seconds() / max(time.Since(began)-warmUp-lead, time.Millisecond).Seconds())
			return err
		}
		cpu, err := t.result(theTester, &all.tester)
		if err := took(Tester, cpu, err); err != nil {
			return err
		}
		after := machineTime()
		f.Stolen = share(after.stolen-before.stolen, after.all-before.all)
		// What still waits in the store sleeps: the machine can be watched meanwhile.
		watched := make(chan report.Number, 1)
		go func() { watched <- watch(ctx) }()
		cpu, err = t.result(theService, &all.service)
		if err = took(Service, cpu, err); err == nil {
			cpu, err = t.result(theStore, &all.store)
			err = took(Store, cpu, err)
		}
		idle := <-watched
		b.idle = &idle
		return err
	})
	if err != nil {
		return store.Sums{}, f, err
	}
	sums, err := r.hand(&all, w, &f)
	return sums, f, err
}

// run has the parts of a round played, and sees to it that none is left.
func (b *Bench) run(ctx context.Context, r *Round, f func(*trio) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	t, err := b.open(r)
	defer t.kill()
	stop := context.AfterFunc(ctx, t.kill)
	defer stop()
	if err == nil {
		err = f(t)
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return err
}

// settle watches the machine until it is idle, or has not been for too long.
func (b *Bench) settle(ctx context.Context) report.Number {
	var idle report.Number
	if b.idle != nil {
		idle = *b.idle
		b.idle = nil
		if isQuiet(idle) {
			return idle
		}
	}
	for range watches {
		if idle = watch(ctx); isQuiet(idle) || ctx.Err() != nil {
			break
		}
	}
	return idle
}

// Capacity measures how many requests a second the service answers under the policy
// of a round, asked by all senders without a pause, of a store that does not wait.
func (b *Bench) Capacity(ctx context.Context, r Round) (report.Number, error) {
	if err := r.Validate(); err != nil {
		return report.None(), err
	}
	b.settle(ctx)
	r.flatOut, r.Rest, r.Deadline = capacityFor, 0, 0
	var all tested
	err := b.run(ctx, &r, func(t *trio) error {
		_, err := t.result(theTester, &all)
		return err
	})
	if err == nil && all.Wrong > 0 {
		err = fmt.Errorf("%w: %d answers were wrong, the first: %s", ErrWrong, all.Wrong, all.First)
	}
	return report.Number(all.PerS), err
}

// capacityFor is how long capacity is measured, after the warm-up.
const capacityFor = 2 * time.Second
