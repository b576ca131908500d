package live

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/spillway-dev/spillway/gate/caller"
	"github.com/spillway-dev/spillway/gate/standin"
	"github.com/spillway-dev/spillway/lab/parts"
	"github.com/spillway-dev/spillway/policy/reason"
	"github.com/spillway-dev/spillway/policy/unit"
	"github.com/spillway-dev/spillway/sim/store"
)

// servicePart asks the store and answers.
type servicePart struct {
	parts.Trouble
	round   Round
	draws   *store.Draws
	store   *link[lookup, found]
	warm    *brain // answers the warm-up
	counted *brain
	clock   atomic.Pointer[parts.Clock]

	mu      sync.Mutex
	waiting map[attemptKey]chan found
	records []*asked
	trying  int       // attempts under way
	rest    sync.Cond // none is
}

// brain is what the service learns: of the store's ways, and of customers.
type brain struct {
	caller *caller.Caller
	ladder *standin.Ladder[scored] // nil: errors
}

// scored is an answer of the store that was scored.
type scored struct {
	value   float64
	of      int64
	attempt uint16
}

type attemptKey struct {
	n       int64
	attempt uint16
}

// asked is what is told of a request.
type asked struct {
	N        int64
	Decided  unit.Instant
	Reason   reason.Reason
	Attempts int
	Deciding uint16 // 0: no attempt was made
	Tries    []tried
}

// tried is what is told of an attempt.
type tried struct {
	Attempt     uint16
	Hedge       bool
	Sent, Limit unit.Instant
	Cut         bool // the service stopped listening at its limit
}

func newBrain(r *Round) (*brain, error) {
	c, err := caller.New(r.Policy)
	if err != nil {
		return nil, err
	}
	b := &brain{caller: c}
	if r.StandIns {
		known := standin.New(standin.Options[scored]{Limits: standin.Limits{Entries: customers}})
		// The policy keeps time back for answering; the ladder needs none of its own.
		b.ladder, err = standin.NewLadder(standin.LadderOptions{Reserve: -1}, standin.LastKnown(known), standin.Default(scored{value: base, of: -1}))
	}
	return b, err
}

// Open implements parts.Part.
func (p *servicePart) Open(s spec, peer string) (string, error) {
	p.round, p.waiting = s.round(), map[attemptKey]chan found{}
	p.rest.L = &p.mu
	p.clock.Store(&parts.Clock{Start: time.Now()})
	var err error
	if p.draws, err = p.round.draws(); err != nil {
		return "", err
	}
	if p.warm, err = newBrain(&p.round); err != nil {
		return "", err
	}
	if p.counted, err = newBrain(&p.round); err != nil {
		return "", err
	}
	if p.store, err = dial[lookup, found](peer); err != nil {
		return "", fmt.Errorf("the store: %w", err)
	}
	go p.hear()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	go serve(l, p.listen)
	return l.Addr().String(), nil
}

// Begin implements parts.Part.
func (p *servicePart) Begin(c parts.Clock) { p.clock.Store(&c) }

// End waits for the attempts that lost: requests have been answered.
func (p *servicePart) End() any {
	p.mu.Lock()
	defer p.mu.Unlock()
	for p.trying > 0 {
		p.rest.Wait()
	}
	all := make([]asked, 0, len(p.records))
	for _, r := range p.records {
		one := *r
		one.Tries = slices.Clone(r.Tries)
		all = append(all, one)
	}
	return all
}

// hear brings what the store says to who asked, if that still listens.
func (p *servicePart) hear() {
	for {
		var f found
		if err := p.store.receive(&f); err != nil {
			p.Fail(fmt.Errorf("the store: %w", err))
			return
		}
		key := attemptKey{f.N, f.Attempt}
		p.mu.Lock()
		c := p.waiting[key]
		delete(p.waiting, key)
		p.mu.Unlock()
		if c != nil {
			c <- f
		}
	}
}

// listen answers the requests of a connection, one after the other.
func (p *servicePart) listen(l *link[answer, ask]) {
	pause, err := parts.NewAlarm()
	if err != nil {
		p.Fail(err)
		return
	}
	for {
		var q ask
		if l.receive(&q) != nil {
			return // the tester has gone
		}
		a := p.answer(&q)
		if err := pause.Sleep(p.round.Rest); err != nil {
			p.Fail(err)
		}
		if err := l.send(&a); err != nil {
			return
		}
	}
}

// answer decides what a request is answered with.
func (p *servicePart) answer(q *ask) answer {
	c, b := p.clock.Load(), p.counted
	r := &asked{N: q.N}
	dice := uint64(0)
	if q.N < 0 {
		b = p.warm
	} else if p.round.flatOut == 0 {
		dice = p.draws.Dice(q.N)
	}
	ctx, cancel := context.Background(), context.CancelFunc(func() {})
	if p.round.Deadline > 0 {
		ctx, cancel = context.WithDeadline(ctx, c.Time(unit.Instant(q.Due)).Add(p.round.Deadline))
	}
	defer cancel()
	ask := func(ctx context.Context) (scored, error) {
		v, err := caller.Do(ctx, b.caller, caller.Request{Idempotent: true, Dice: dice}, func(ctx context.Context, a caller.Attempt) (scored, error) {
			return p.try(ctx, c, r, a)
		})
		p.decide(c, r, v, err)
		return v, err
	}
	if b.ladder == nil {
		v, err := ask(ctx)
		if err != nil {
			return answer{N: q.N, Of: -1, Rung: refusal}
		}
		return answer{q.N, v.of, v.value, primary}
	}
	v, said, err := standin.Do(ctx, b.ladder, keyOf(q.N), ask)
	if err != nil {
		return answer{N: q.N, Of: -1, Rung: refusal} // the tester takes it for wrong: there is always a default
	}
	return answer{q.N, v.of, v.value, rungs[said.Rung]}
}

var rungs = map[string]rung{"primary": primary, "last_known": lastKnown, "default": byDefault}

// try makes an attempt.
func (p *servicePart) try(ctx context.Context, c *parts.Clock, r *asked, a caller.Attempt) (scored, error) {
	key, reply := attemptKey{r.N, uint16(a.Number)}, make(chan found, 1)
	t, l := tried{Attempt: key.attempt, Hedge: a.Hedge, Limit: unit.Never}, lookup{N: r.N, Attempt: key.attempt, Left: -1}
	if limit, ok := a.Limit(); ok {
		t.Limit = c.At(limit)
		if p.round.Travels {
			left, _ := a.Left()
			l.Left = int64(max(left, 0))
		}
	}
	p.mu.Lock()
	if r.Decided != 0 { // a hedge that begins as late as that is not sent, and not counted
		p.mu.Unlock()
		return scored{}, context.Canceled
	}
	p.waiting[key] = reply
	t.Sent = c.Now()
	r.Tries = append(r.Tries, t)
	p.trying++
	p.mu.Unlock()
	defer p.ended()
	if err := p.store.send(&l); err != nil {
		p.Fail(fmt.Errorf("the store: %w", err))
		return scored{}, caller.Broken(err)
	}
	select {
	case f := <-reply:
		if !f.Stopped {
			return scored{score(f.Features), f.N, f.Attempt}, nil
		}
		<-ctx.Done() // the store has stopped at the limit, which is about to come here too
	case <-ctx.Done():
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.waiting, key)
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		for i := range r.Tries {
			if r.Tries[i].Attempt == key.attempt {
				r.Tries[i].Cut = true
			}
		}
	}
	return scored{}, ctx.Err()
}

func (p *servicePart) ended() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.trying--; p.trying == 0 {
		p.rest.Broadcast()
	}
}

// decide notes what came of a request.
func (p *servicePart) decide(c *parts.Clock, r *asked, v scored, err error) {
	now := c.Now()
	p.mu.Lock()
	defer p.mu.Unlock()
	r.Decided, r.Reason, r.Attempts = now, reason.Served, len(r.Tries)
	if f, ok := errors.AsType[*caller.Failure](err); ok {
		r.Reason = f.Reason
	} else if err != nil {
		r.Reason = reason.Failed
	}
	if r.Deciding = v.attempt; err != nil {
		r.Deciding = 0
		for _, t := range r.Tries { // the last try's first
			if !t.Hedge {
				r.Deciding = t.Attempt
			}
		}
	}
	if r.N >= 0 && p.round.flatOut == 0 {
		p.records = append(p.records, r)
	}
}
