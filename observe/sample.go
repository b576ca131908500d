package observe

import (
	"sync"
	"time"
)

// Sampler lets the first few events of each kind through in every second and
// counts the rest, so that a flood of refusals does not become a flood of lines.
// Kinds must come from a closed set: each is remembered.
type Sampler[K comparable] struct {
	most int
	mu   sync.Mutex
	kind map[K]*sampled
}

type sampled struct {
	second   time.Time
	let      int
	withheld int
}

// NewSampler returns a sampler that lets so many events a second of each kind
// through.
func NewSampler[K comparable](most int) *Sampler[K] {
	return &Sampler[K]{most: most, kind: make(map[K]*sampled)}
}

// Sample reports whether the event is to be shown, and how many of its kind
// were withheld in the seconds before it that have not been told yet.
func (s *Sampler[K]) Sample(now time.Time, kind K) (show bool, withheld int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	k := s.kind[kind]
	if k == nil {
		k = new(sampled)
		s.kind[kind] = k
	}
	if now.Sub(k.second) >= time.Second || now.Before(k.second) {
		withheld = k.withheld
		*k = sampled{second: now}
	}
	if k.let < s.most {
		k.let++
		return true, withheld
	}
	k.withheld++
	return false, withheld
}

// Flush returns what was withheld of each kind and not told, and forgets it.
func (s *Sampler[K]) Flush() map[K]int {
	s.mu.Lock()
	defer s.mu.Unlock()
	rest := make(map[K]int)
	for kind, k := range s.kind {
		if k.withheld > 0 {
			rest[kind] = k.withheld
			k.withheld = 0
		}
	}
	return rest
}
