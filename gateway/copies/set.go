package copies

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net"
	"sync"
	"time"

	"github.com/spillway-dev/spillway/gateway/wire"
	"github.com/spillway-dev/spillway/policy/spread"
	"github.com/spillway-dev/spillway/policy/unit"
)

// Set is the copies of one upstream. It is safe for concurrent use.
type Set struct {
	cfg   Config
	epoch time.Time
	certs *certificates // nil without https
	start sync.Once
	ctx   context.Context // of what runs by itself
	end   context.CancelFunc
	work  sync.WaitGroup

	// mu guards all that follows. It is held for a few comparisons a copy.
	mu      sync.Mutex
	spread  *spread.Spread
	weights []int   // of Config.URLs
	copies  []*Copy // by spread.Copy, those that drain included; nil where there is none
	told    int64   // the spread's change that was logged last
	begun   bool
}

// New returns the copies of an upstream. It starts nothing and asks nobody; it
// reads the files of TLS, and says what is wrong with them.
func New(cfg Config) (*Set, error) {
	cfg.ResolveEvery = cmp.Or(cfg.ResolveEvery, resolveEvery)
	cfg.Health.Interval = cmp.Or(cfg.Health.Interval, checkEvery)
	cfg.Health.Timeout = cmp.Or(cfg.Health.Timeout, checkTime)
	if cfg.Resolver == nil {
		cfg.Resolver = net.DefaultResolver
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	s := &Set{cfg: cfg, epoch: time.Now(), weights: cfg.Weights, spread: spread.New(cfg.Spread, cmp.Or(cfg.Seed, rand.Uint64()))}
	s.ctx, s.end = context.WithCancel(context.Background())
	if len(cfg.URLs) == 0 {
		return nil, fmt.Errorf("upstream %s: it has no URL; write it like http://127.0.0.1:9001", cfg.Name)
	}
	for i, u := range cfg.URLs {
		t, err := targetOf(u)
		if err != nil {
			return nil, fmt.Errorf("upstream %s: %w", cfg.Name, err)
		}
		if t.secure && s.certs == nil {
			if s.certs, err = newCertificates(cfg.TLS, cfg.Logger.With("upstream", cfg.Name)); err != nil {
				return nil, fmt.Errorf("upstream %s: %w", cfg.Name, err)
			}
		}
		if s.add(i, t, false) == nil {
			return nil, fmt.Errorf("upstream %s: %d copies are the most", cfg.Name, spread.CopiesMax)
		}
	}
	return s, nil
}

// Start begins to look names up and to check copies. It does nothing the second
// time.
func (s *Set) Start() {
	s.start.Do(func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.begun = true
		for _, c := range s.copies {
			s.watch(c)
		}
		if s.named() {
			s.work.Go(s.follow)
		}
	})
}

// Close ends what runs by itself and closes the connections on which nothing
// runs; others are closed when they are idle. The set can be used on: requests
// that are late for a reload do. It may be called more than once.
func (s *Set) Close() {
	s.end()
	s.start.Do(func() {}) // never, from now on
	s.work.Wait()
	s.mu.Lock()
	all := append([]*Copy(nil), s.copies...)
	s.mu.Unlock()
	for _, c := range all {
		if c != nil {
			c.retire()
		}
	}
}

// Reconfigure spreads requests by another configuration and other weights of the
// URLs from now on. What is known of the copies stays.
func (s *Set) Reconfigure(cfg spread.Config, weights []int) {
	s.mu.Lock()
	defer s.unlock()
	s.spread.Reconfigure(cfg)
	s.weights = weights
	for _, c := range s.copies {
		if c != nil && !c.drains {
			s.spread.Weigh(s.now(), c.id, s.weight(c.url))
		}
	}
}

// weight is that of the copies of a URL. It is called with mu held.
func (s *Set) weight(url int) int {
	if url < len(s.weights) {
		return s.weights[url]
	}
	return 1
}

func (s *Set) now() unit.Instant { return unit.Instant(time.Since(s.epoch)) }

// Take returns the copy that a request goes to. It is in flight there from now
// on, until Copy.Done. It is another than avoid, if there is another; avoid may be
// nil. ok is false if there is no copy at all, which no configuration brings about.
func (s *Set) Take(avoid *Copy) (c *Copy, ok bool) {
	not := spread.None
	if avoid != nil {
		not = avoid.id
	}
	s.mu.Lock()
	defer s.unlock()
	id, ok := s.spread.Take(s.now(), not)
	if !ok {
		return nil, false
	}
	return s.copies[id], true
}

// Judge says what came of a call that took so long, at most once for each Take.
func (c *Copy) Judge(o spread.Outcome, took time.Duration) {
	c.outcomes[o].Add(1)
	c.set.mu.Lock()
	defer c.set.unlock()
	if c.set.copies[c.id] != c {
		return // it drained and has gone; its number may be another's
	}
	c.set.spread.Judge(c.set.now(), c.id, o, took)
}

// Done says that the copy has nothing more to do for a request that it was given
// by Take. A copy that drains goes with its last one.
func (c *Copy) Done() {
	c.set.mu.Lock()
	gone := c.set.spread.Done(c.id)
	if gone {
		c.set.copies[c.id] = nil
	}
	drains := c.drains
	c.set.mu.Unlock()
	if drains {
		c.retire()
	}
}

// add takes a copy in; it returns nil if there are too many. It is called with
// mu held, or before anybody else knows the set.
func (s *Set) add(url int, t target, fresh bool) *Copy {
	id, ok := s.spread.Add(s.now(), fresh)
	if !ok {
		return nil
	}
	s.spread.Weigh(s.now(), id, s.weight(url))
	c := &Copy{set: s, id: id, url: url, target: t}
	c.addresses.Store(&t.addresses)
	c.main, c.grpc = c.transports()
	if !t.secure && !t.h2c {
		c.plain = &wire.Pool{Dial: c.Dial, IdleMost: idleMost, IdleFor: idleTimeout}
	}
	for int(id) >= len(s.copies) {
		s.copies = append(s.copies, nil)
	}
	s.copies[id] = c
	if s.begun {
		s.watch(c)
	}
	return c
}

// drain gives the copy nothing more. It is called with mu held; the caller
// retires it when it no longer is.
func (s *Set) drain(c *Copy) {
	c.drains = true
	if c.unwatch != nil {
		c.unwatch()
	}
	if s.spread.Drain(c.id) {
		s.copies[c.id] = nil
	}
}

// unlock gives mu back and says which copies went out and came back meanwhile: a log
// that is slow must not hold requests up.
func (s *Set) unlock() {
	if s.spread.Changes() == s.told {
		s.mu.Unlock()
		return
	}
	s.told = s.spread.Changes()
	var news []change
	for _, c := range s.copies {
		if c == nil || c.drains {
			continue
		}
		if st := s.spread.State(s.now(), c.id); st.Out != c.out {
			c.out = st.Out
			news = append(news, change{c, st})
		}
	}
	s.mu.Unlock()
	for _, n := range news {
		n.tell()
	}
}

// change is a copy that went out or came back.
type change struct {
	copy *Copy
	now  spread.State
}

func (n change) tell() {
	log := n.copy.set.cfg.Logger.With("upstream", n.copy.set.cfg.Name, "copy", n.copy.Name())
	switch {
	case !n.now.Out:
		log.Info("copy is used again")
	case n.now.Ejected:
		log.Warn("copy is left out: its calls fail", "for", n.now.Left.Round(time.Millisecond), "time", n.now.Times)
	default:
		log.Warn("copy is left out: its checks fail", "last", n.copy.lastCheck())
	}
}
