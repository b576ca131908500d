package caller_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/spillway-dev/spillway/gate"
	"github.com/spillway-dev/spillway/gate/caller"
	"github.com/spillway-dev/spillway/policy/call"
	"github.com/spillway-dev/spillway/test/need"
)

// world is what calls at random take and have to give back.
type world struct {
	gate           *gate.Gate   // whose permits attempts hold
	opened, closed atomic.Int64 // bodies
	hooks          atomic.Int64 // on contexts of callers
	running        atomic.Int64
	ended          [3]atomic.Int64 // by how calls ended: answered, failed, panicked
}

// body is an answer that has to be closed.
type body struct{ w *world }

func (b *body) Close() error { b.w.closed.Add(1); return nil }

// hooked is a caller's context that counts who is hooked on to it.
type hooked struct {
	context.Context
	w *world
}

func (h hooked) AfterFunc(f func()) func() bool {
	h.w.hooks.Add(1)
	var once sync.Once
	down := func() { once.Do(func() { h.w.hooks.Add(-1) }) }
	stop := context.AfterFunc(h.Context, func() { down(); f() })
	return func() bool { defer down(); return stop() }
}

// attempt holds a permit, perhaps opens a body, and answers, fails, panics or
// dawdles at random. It may be deaf to its context.
func (w *world) attempt(ctx context.Context, r *rand.Rand) (*body, error) {
	w.running.Add(1)
	defer w.running.Add(-1)
	permit, err := w.gate.Acquire(ctx, gate.Request{})
	if err != nil {
		return nil, err
	}
	defer permit.Done()
	if d := time.Duration(r.Int64N(int64(30 * ms))); r.IntN(20) == 0 {
		sleep(context.Background(), d)
	} else if err := sleep(ctx, d); err != nil {
		return nil, err
	}
	switch r.IntN(200) {
	case 0:
		panic(errBoom)
	case 1, 2, 3, 4, 5, 6, 7, 8, 9, 10:
		return nil, errDown
	case 11, 12:
		return nil, caller.Refused(errDown, 5*ms)
	}
	w.opened.Add(1)
	return &body{w}, nil
}

// call makes a call at random, with a caller that may leave.
func (w *world) call(t *testing.T, c *caller.Caller, seed uint64) {
	r := rand.New(rand.NewPCG(seed, 1))
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	if r.IntN(4) == 0 {
		defer time.AfterFunc(time.Duration(r.Int64N(int64(40*ms))), cancel).Stop()
	}
	ask := caller.Request{Idempotent: r.IntN(3) > 0, Fixed: r.IntN(10) == 0}
	if r.IntN(3) > 0 {
		ask.Timeout = time.Duration(r.Int64N(int64(60 * ms)))
	}
	how := 2 // what stands if nothing returns
	defer func() {
		w.ended[how].Add(1)
		if p := recover(); how == 2 && p != errBoom {
			if raised, ok := p.(*caller.Panic); !ok || raised.Value != errBoom {
				t.Errorf("panicked with %v", p)
			}
		}
	}()
	var number atomic.Uint64
	f := func(ctx context.Context, _ caller.Attempt) (*body, error) {
		return w.attempt(ctx, rand.New(rand.NewPCG(seed, 2+number.Add(1))))
	}
	var b *body
	var err error
	if r.IntN(2) == 0 {
		b, err = caller.Do(hooked{ctx, w}, c, ask, f)
	} else {
		var held caller.Held
		b, held, err = caller.Hold(hooked{ctx, w}, c, ask, f, nil)
		sleep(ctx, time.Duration(r.Int64N(int64(10*ms))))
		held.Release()
	}
	if how = 1; err == nil {
		how = 0
		b.Close()
	} else if !errors.Is(err, caller.ErrFailed) && !errors.Is(err, gate.ErrRefused) {
		t.Errorf("ended with %v", err)
	}
}

// Calls at random, sixty-four at a time, with callers that leave, panics, limits, hedges,
// retries and a breaker: nothing is left of them, no goroutine (or the bubble would not
// end), no attempt, body, permit or hook on a context, and the breaker is not wedged.
func TestNothingIsLeftOfCallsAtRandom(t *testing.T) {
	total := need.Count(t, "SPILLWAY_CALLS", 20_000)
	bubble(t, func(t *testing.T) {
		w := new(world)
		var err error
		w.gate, err = gate.New(gate.Config{Strict: true, Classes: []gate.Class{{Name: "all", Pool: gate.Pool{Slots: 100, Bound: 100}}}})
		if err != nil {
			t.Fatal(err)
		}
		defer w.gate.Close()
		var lost atomic.Int64
		onPanic := caller.OnPanic(func(any, []byte) { lost.Add(1) })
		limits := call.Policy{Timeout: 20 * ms, Retries: 2, Budget: unlimited, Backoff: call.Backoff{Base: ms}, Breaker: call.Breaker{Failures: 60, MinCalls: 50, OpenFor: 10 * ms, OpenMax: 20 * ms}}
		hedges := limits
		hedges.Hedge = call.Hedge{After: 8 * ms, Budget: unlimited, SlowShare: 100}
		callers := []*caller.Caller{open(t, limits, onPanic), open(t, hedges, onPanic), open(t, call.Policy{Hedge: hedges.Hedge}, onPanic), open(t, call.Policy{}, onPanic)}
		var next atomic.Int64
		var all sync.WaitGroup
		for range 64 {
			all.Go(func() {
				for i := next.Add(1); i <= int64(total); i = next.Add(1) {
					w.call(t, callers[i%int64(len(callers))], uint64(i))
				}
			})
		}
		all.Wait()
		time.Sleep(time.Minute) // those that are deaf end too
		synctest.Wait()
		if n := w.running.Load(); n != 0 {
			t.Errorf("%d attempts still run", n)
		}
		if o, c := w.opened.Load(), w.closed.Load(); o != c || o == 0 {
			t.Errorf("%d bodies were opened, %d closed", o, c)
		}
		if n := w.hooks.Load(); n != 0 {
			t.Errorf("%d hooks are left on callers' contexts", n)
		}
		if s := w.gate.States()[0]; s.Used != 0 || s.Waiting != 0 {
			t.Errorf("%d permits are held, %d wait", s.Used, s.Waiting)
		}
		if err := w.gate.Check(); err != nil {
			t.Error(err)
		}
		for i, c := range callers {
			if v, err := caller.Do(t.Context(), c, safe, func(context.Context, caller.Attempt) (int, error) { return 7, nil }); v != 7 || err != nil {
				t.Errorf("caller %d afterwards: %v", i, err)
			}
			if s := c.State(); s.Breaker != call.Closed {
				t.Errorf("caller %d: breaker %v", i, s.Breaker)
			}
		}
		answered, failed, panicked := w.ended[0].Load(), w.ended[1].Load(), w.ended[2].Load()
		if answered+failed+panicked != int64(total) || answered == 0 || failed == 0 || panicked == 0 {
			t.Errorf("%d answered, %d failed, %d panicked of %d", answered, failed, panicked, total)
		}
		t.Logf("%d answered, %d failed, %d panicked, %d panics too late for their call", answered, failed, panicked, lost.Load())
	})
}
