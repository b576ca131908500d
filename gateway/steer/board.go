package steer

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/spillway-dev/spillway/policy/scale"
	"github.com/spillway-dev/spillway/policy/unit"
)

// Resource is what is known of a resource at one look.
type Resource struct {
	Name string
	scale.Facts
}

// Told is what is told of a resource.
type Told struct {
	Resource string
	scale.Reading
}

// Board keeps the figure of every resource.
type Board struct {
	began time.Time
	facts func() []Resource

	mu      sync.Mutex
	config  scale.Config
	signals map[string]*scale.Signal // bounded by the configuration: whoever is gone is forgotten

	load atomic.Pointer[string] // as Load has it
}

// Every is how often a board looks by itself.
const Every = time.Second

// New returns a board on resources whose facts are had by a call of facts, which must be
// safe for concurrent use and answer at once.
func New(facts func() []Resource) *Board {
	return &Board{began: time.Now(), facts: facts, signals: make(map[string]*scale.Signal)}
}

// Reconfigure changes how figures are made. What was seen stays.
func (b *Board) Reconfigure(c scale.Config) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.config = c
	for _, s := range b.signals {
		s.Reconfigure(c)
	}
}

// Run looks until ctx ends.
func (b *Board) Run(ctx context.Context) {
	tick := time.NewTicker(Every)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			b.Look()
		}
	}
}

// Look returns the figures as they are now, in the order of the facts.
func (b *Board) Look() []Told {
	all := b.facts()
	b.mu.Lock()
	defer b.mu.Unlock()
	now := unit.Instant(time.Since(b.began))
	before := b.signals
	b.signals = make(map[string]*scale.Signal, len(all))
	told := make([]Told, 0, len(all))
	for _, r := range all {
		s := before[r.Name]
		if s == nil {
			fresh := scale.New(b.config)
			s = &fresh
		}
		b.signals[r.Name] = s
		told = append(told, Told{r.Name, s.Look(now, r.Facts)})
	}
	text := loadText(told)
	b.load.Store(&text)
	return told
}

// fullest returns the reading that is fullest: a copy that has room for
// all but one resource has room for no request that needs that one.
func fullest(all []Told) (most scale.Reading) {
	for _, t := range all {
		if t.Load > most.Load {
			most = t.Reading
		}
	}
	return most
}
