package gate

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/spillway-dev/spillway/policy/quota"
	"github.com/spillway-dev/spillway/policy/reason"
)

// slots is a store that knows of nothing but calls at once.
type slots struct {
	mu         sync.Mutex
	most, held int
	open       map[string]bool // started
	worst      int
}

func (s *slots) Reserve(_ context.Context, r Reservation) quota.Verdict {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.held == s.most {
		return quota.Verdict{Reason: reason.QuotaConcurrency, Budget: 0}
	}
	s.held++
	s.worst = max(s.worst, s.held)
	s.open[r.ID] = false
	return quota.Verdict{Budget: -1}
}

func (s *slots) Start(_ context.Context, r Reservation) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.open[r.ID] = true
	return nil
}

func (s *slots) end(r Reservation, released bool) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	started, there := s.open[r.ID]
	if !there || released && started {
		return errors.New("ended twice, or released and started")
	}
	delete(s.open, r.ID)
	s.held--
	return nil
}

func (s *slots) Settle(_ context.Context, r Reservation, _ quota.Amounts) error {
	return s.end(r, false)
}
func (s *slots) Lose(_ context.Context, r Reservation, _ string) error    { return s.end(r, false) }
func (s *slots) Release(_ context.Context, r Reservation, _ string) error { return s.end(r, true) }

// Callers who come, leave while they are reserved for, give their grant back, start and
// end: each reservation ends once, in the one way that is true, and nothing is left. The
// store has fewer slots than the gate was told, as where others use them.
func TestEveryReservationEndsOnce(t *testing.T) {
	s := &slots{most: 3, open: map[string]bool{}}
	g, err := New(Config{Name: "app", Strict: true, Classes: []Class{{
		Name: "all", Pool: Pool{Slots: 8}, Deadline: 5 * time.Second, AdmitHopeless: true,
		Quotas: []quota.Quota{{Name: "q", All: []quota.Ref{{Name: "concurrent", Limit: quota.Limit{Unit: quota.Concurrent, Most: 5}}}}},
	}}}, WithReserver(s))
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	var running, most, served atomic.Int64
	var all sync.WaitGroup
	for range 16 {
		all.Go(func() {
			for range 60 {
				ctx, cancel := context.WithCancel(context.Background())
				if rand.IntN(4) == 0 {
					time.AfterFunc(time.Duration(rand.IntN(300))*time.Microsecond, cancel)
				}
				p, refused := g.Enter(ctx, Request{})
				if refused.Reason == reason.None {
					switch rand.IntN(5) {
					case 0:
						p.Finish(reason.None)
					case 1:
						p.Unsent("the test does not send it")
						p.Drop()
					default:
						if err := p.Start(context.Background()); err != nil {
							t.Error(err)
						}
						n := running.Add(1)
						for m := most.Load(); n > m && !most.CompareAndSwap(m, n); m = most.Load() {
						}
						running.Add(-1)
						served.Add(1)
						p.Finish([]reason.Reason{reason.Served, reason.Failed, reason.Timeout}[rand.IntN(3)])
					}
				}
				cancel()
			}
		})
	}
	all.Wait()
	if err := g.WaitSettled(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := g.Check(); err != nil || g.Bugs() > 0 {
		t.Errorf("%d bugs, %v", g.Bugs(), err)
	}
	if s.held != 0 || len(s.open) > 0 || s.worst > 3 || most.Load() > 3 {
		t.Errorf("%d held, %d open, at most %d and %d at once", s.held, len(s.open), s.worst, most.Load())
	}
	if q := g.Quota(0); served.Load() == 0 || q.Budgets[0].Free != 5 || q.Reserving != 0 {
		t.Errorf("%d served, %+v", served.Load(), q)
	}
}
