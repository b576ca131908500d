package quality

import (
	"hash/maphash"
	"slices"
	"sync"

	"github.com/spillway-dev/spillway/policy/shed"
)

// RememberedMost is how many answers are remembered: minutes of what a person could
// say something about.
const RememberedMost = 1 << 16

// shards is how many locks share them.
const shards = 16

// Book remembers answers and adds up what is said of them. Create it with NewBook.
type Book struct {
	seed   maphash.Seed
	shards [shards]shard

	mu    sync.Mutex
	rungs []*Rung // in the order in which they first came
}

// Rung is the figures of a rung of a class.
type Rung struct {
	Class, Name string
	tallies     [shed.Buckets][2]Tally
}

// shard is the latest answers of some ids.
type shard struct {
	mu    sync.Mutex
	index map[uint64]int32
	ring  []remembered
	next  int
}

type remembered struct {
	id uint64
	of *Tally // nil: it was judged
}

// NewBook returns an empty book. It takes its memory with the first answer.
func NewBook() *Book { return &Book{seed: maphash.MakeSeed()} }

// Rung returns the figures of a rung of a class, the same ones at every call.
func (b *Book) Rung(class, name string) *Rung {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, r := range b.rungs {
		if r.Class == class && r.Name == name {
			return r
		}
	}
	r := &Rung{Class: class, Name: name}
	b.rungs = append(b.rungs, r)
	return r
}

// Of returns the figures of answers to requests of that gap, of those that were shed
// for load or of the others.
func (r *Rung) Of(gap shed.Gap, shedForLoad bool) *Tally {
	i := 0
	if shedForLoad {
		i = 1
	}
	return &r.tallies[gap.Bucket()][i]
}

// Remember notes that a request was answered. Of two with one id the later counts.
func (b *Book) Remember(id string, of *Tally) {
	of.answers.Add(1)
	h := maphash.String(b.seed, id)
	s := &b.shards[h%shards]
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.index == nil {
		s.index = make(map[uint64]int32, RememberedMost/shards)
		s.ring = make([]remembered, RememberedMost/shards)
	}
	if i, ok := s.index[h]; ok {
		s.ring[i].of = of
		return
	}
	old := &s.ring[s.next]
	if old.of != nil {
		delete(s.index, old.id)
	}
	*old = remembered{h, of}
	s.index[h] = int32(s.next)
	s.next = (s.next + 1) % len(s.ring)
}

// Judge adds what is said of an answer, 0 (useless) to 1, and reports whether it is
// remembered and was not judged before.
func (b *Book) Judge(id string, score float64) bool {
	h := maphash.String(b.seed, id)
	s := &b.shards[h%shards]
	s.mu.Lock()
	i, ok := s.index[h]
	var of *Tally
	if ok {
		of, s.ring[i].of = s.ring[i].of, nil
		delete(s.index, h)
	}
	s.mu.Unlock()
	if of == nil {
		return false
	}
	of.add(score)
	return true
}

// Figures returns what is known of a class, in the order of its rungs and buckets;
// those of which there was no answer are left out.
func (b *Book) Figures(class string) (all []Figure) {
	b.mu.Lock()
	rungs := slices.Clone(b.rungs)
	b.mu.Unlock()
	for _, r := range rungs {
		if r.Class != class {
			continue
		}
		for bucket := range r.tallies {
			for i := range r.tallies[bucket] {
				if f := r.tallies[bucket][i].figure(); f.Answers > 0 {
					f.Rung, f.Bucket, f.Gap, f.Shed = r.Name, bucket, shed.LeastGap(bucket), i == 1
					all = append(all, f)
				}
			}
		}
	}
	return all
}
