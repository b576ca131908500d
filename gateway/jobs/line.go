package jobs

import (
	"context"
	"maps"
	"sync"
	"time"

	"github.com/spillway-dev/spillway/ledger"
	"github.com/spillway-dev/spillway/policy/fair"
	"github.com/spillway-dev/spillway/policy/unit"
)

// Class is what of a class its jobs go by.
type Class struct {
	Name    string
	Policy  fair.Policy
	Weights map[string]int
	Ranks   map[string]int
}

func (c *Class) same(o *Class) bool {
	return c.Name == o.Name && c.Policy == o.Policy && maps.Equal(c.Weights, o.Weights) && maps.Equal(c.Ranks, o.Ranks)
}

// tenantsMost is how many tenants of a class have a place in its schedule at once.
const tenantsMost = 4096

// pollEvery is how often the ledger is asked for what another gateway has accepted.
const pollEvery = time.Second

// line is whose turn it is among the tenants of a class of whom something waits.
type line struct {
	class  Class
	ledger *ledger.Ledger
	wake   chan struct{} // room for one

	mu      sync.Mutex
	turns   fair.Scheduler
	tenants map[string]*tenant
	offered map[string]bool // ids of those that a worker has
	after   string          // the tenant up to which the ledger was asked
}

// tenant is a place in the schedule.
type tenant struct {
	fair.Flow
	name    string
	offered int
	rests   time.Time // until when it is not offered: its own limits refuse it
	waits   bool      // it is in the schedule
}

func newLine(c Class, l *ledger.Ledger) *line {
	p := c.Policy
	if p == fair.Fifo { // nobody's million jobs are before everybody else's
		p = fair.DRR
	}
	return &line{class: c, ledger: l, wake: make(chan struct{}, 1), turns: fair.New(p), tenants: map[string]*tenant{}, offered: map[string]bool{}}
}

// stir has it look again.
func (l *line) stir() {
	select {
	case l.wake <- struct{}{}:
	default:
	}
}

// added notes that something of a tenant waits.
func (l *line) added(name string) {
	l.mu.Lock()
	l.join(name, time.Now())
	l.mu.Unlock()
	l.stir()
}

// join gives a tenant a place in the schedule, if there is one left.
func (l *line) join(name string, now time.Time) {
	t := l.tenants[name]
	if t == nil {
		if len(l.tenants) >= tenantsMost {
			return
		}
		t = &tenant{name: name}
		t.Owner = t
		weight, rank := 1, len(l.class.Ranks)
		if w, named := l.class.Weights[name]; named {
			weight = w
		}
		if r, named := l.class.Ranks[name]; named {
			rank = r
		}
		l.turns.Set(&t.Flow, int64(weight), rank)
		l.tenants[name] = t
	}
	if !t.waits && !now.Before(t.rests) {
		t.waits = true
		l.turns.Join(&t.Flow)
	}
}

// next returns the job whose turn it is, waiting for one if there is none, and false when
// ctx ends. It is called by one goroutine.
func (l *line) next(ctx context.Context) (ledger.Job, bool) {
	for {
		j, found, wait, err := l.pick(ctx)
		switch {
		case ctx.Err() != nil:
			return j, false
		case found:
			return j, true
		case err != nil:
			wait = pollEvery
		}
		timer := time.NewTimer(wait)
		select {
		case <-ctx.Done():
		case <-l.wake:
		case <-timer.C:
		}
		timer.Stop()
	}
}

// pick returns the job whose turn it is, or in how long to look again.
func (l *line) pick(ctx context.Context) (j ledger.Job, found bool, wait time.Duration, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now()
	if j, found, err = l.turn(ctx, now); found || err != nil {
		return j, found, 0, err
	}
	l.prune()
	names, err := l.ledger.Tenants(ctx, l.class.Name, l.after, tenantsMost)
	if err != nil {
		return j, false, 0, err
	}
	if l.after = ""; len(names) == tenantsMost {
		l.after = names[len(names)-1]
	}
	for _, name := range names {
		l.join(name, now)
	}
	if j, found, err = l.turn(ctx, now); found || err != nil {
		return j, found, 0, err
	}
	b, err := l.ledger.Backlog(ctx, l.class.Name)
	wait = pollEvery
	if err == nil && b.First != unit.Never && b.First > b.Now {
		wait = min(wait, b.First.Sub(b.Now))
	}
	return j, false, max(wait, time.Millisecond), err
}

// turn serves the first tenant of whom something is due. Those of whom nothing is leave.
func (l *line) turn(ctx context.Context, now time.Time) (ledger.Job, bool, error) {
	for {
		f := l.turns.Next()
		if f == nil {
			return ledger.Job{}, false, nil
		}
		t := f.Owner.(*tenant)
		if !now.Before(t.rests) {
			due, err := l.ledger.Due(ctx, l.class.Name, t.name, t.offered+1)
			if err != nil {
				return ledger.Job{}, false, err
			}
			for _, j := range due {
				if !l.offered[j.ID] {
					l.offered[j.ID] = true
					t.offered++
					l.turns.Serve(f, unit.Cost(j.Cost).Clamp())
					return j, true, nil
				}
			}
		}
		t.waits = false
		l.turns.Leave(f)
	}
}

// prune forgets tenants of whom nothing waits, that a worker has nothing of, and that do
// not rest.
func (l *line) prune() {
	now := time.Now()
	maps.DeleteFunc(l.tenants, func(_ string, t *tenant) bool { return !t.waits && t.offered == 0 && !now.Before(t.rests) })
}

// back takes a job back from its worker. If it was not started its tenant has not had its
// turn, and rests for a while if it is its own limits that refused.
func (l *line) back(j *ledger.Job, started bool, rest time.Duration) {
	l.mu.Lock()
	delete(l.offered, j.ID)
	if t := l.tenants[j.Tenant]; t != nil {
		t.offered--
		if !started {
			l.turns.Correct(&t.Flow, -unit.Cost(j.Cost).Clamp())
		}
		if rest > 0 {
			t.rests = time.Now().Add(rest)
		}
		if !t.waits && rest == 0 {
			l.join(t.name, time.Now())
		}
	}
	l.mu.Unlock()
	l.stir()
}
