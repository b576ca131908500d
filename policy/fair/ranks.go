package fair

import "github.com/spillway-dev/spillway/policy/unit"

// Ranks serves the flow of the lowest rank, always; among equals the one
// that has waited longer in the schedule. It starves the others on purpose.
// Join, Leave and Set take O(log n), Next O(1).
type Ranks struct {
	heap   heap // by rank
	weight int64
}

// Join enters f.
func (l *Ranks) Join(f *Flow) {
	if l.heap.has(f) {
		return
	}
	l.weight += f.Weight
	l.heap.push(f, int64(f.Rank))
}

// Leave takes f out.
func (l *Ranks) Leave(f *Flow) {
	if !l.heap.has(f) {
		return
	}
	l.weight -= f.Weight
	l.heap.remove(f)
}

// Next returns the flow of the lowest rank.
func (l *Ranks) Next() *Flow { return l.heap.least() }

// Serve changes nothing: rank decides, whatever was served before.
func (l *Ranks) Serve(*Flow, unit.Cost) {}

// Correct changes nothing.
func (l *Ranks) Correct(*Flow, unit.Cost) {}

// Return changes nothing.
func (l *Ranks) Return(*Flow, unit.Cost) {}

// Weight returns the sum of the waiting flows' weights, at least 1.
func (l *Ranks) Weight() int64 { return max(l.weight, 1) }

// Set changes f's weight and rank. One that waits keeps its seniority among
// those of its new rank.
func (l *Ranks) Set(f *Flow, weight int64, rank int) {
	oldWeight, oldRank := f.Weight, f.Rank
	f.set(weight, rank)
	if !l.heap.has(f) {
		return
	}
	l.weight += f.Weight - oldWeight
	if rank != oldRank {
		l.heap.rekey(f, int64(rank))
	}
}
