package fair

import "github.com/spillway-dev/spillway/policy/unit"

// Ranks serves the flow of the lowest rank, always; among equals the one
// that has waited longer in the schedule. It starves the others on purpose.
// Join and Leave take O(log n), Next O(1).
type Ranks struct {
	heap   []*Flow
	seq    uint64
	weight int64
}

// Join enters f.
func (l *Ranks) Join(f *Flow) {
	if f.index != 0 {
		return
	}
	l.seq++
	f.seq = l.seq
	l.weight += f.Weight
	l.heap = append(l.heap, f)
	f.index = len(l.heap)
	l.up(len(l.heap) - 1)
}

// Leave takes f out.
func (l *Ranks) Leave(f *Flow) {
	if f.index == 0 {
		return
	}
	l.weight -= f.Weight
	i, last := f.index-1, len(l.heap)-1
	l.swap(i, last)
	l.heap[last] = nil
	l.heap = l.heap[:last]
	f.index = 0
	if i < last {
		l.down(i)
		l.up(i)
	}
}

// Next returns the flow of the lowest rank.
func (l *Ranks) Next() *Flow {
	if len(l.heap) == 0 {
		return nil
	}
	return l.heap[0]
}

// Serve changes nothing: rank decides, whatever was served before.
func (l *Ranks) Serve(*Flow, unit.Cost) {}

// Correct changes nothing.
func (l *Ranks) Correct(*Flow, unit.Cost) {}

// Weight returns the sum of the waiting flows' weights, at least 1.
func (l *Ranks) Weight() int64 { return max(l.weight, 1) }

// Reweigh sets f's weight, at least 1.
func (l *Ranks) Reweigh(f *Flow, weight int64) {
	weight = max(weight, 1)
	if f.index != 0 {
		l.weight += weight - f.Weight
	}
	f.Weight = weight
}

func (l *Ranks) before(i, j int) bool {
	a, b := l.heap[i], l.heap[j]
	return a.Rank < b.Rank || a.Rank == b.Rank && a.seq < b.seq
}

func (l *Ranks) swap(i, j int) {
	l.heap[i], l.heap[j] = l.heap[j], l.heap[i]
	l.heap[i].index, l.heap[j].index = i+1, j+1
}

func (l *Ranks) up(i int) {
	for i > 0 && l.before(i, (i-1)/2) {
		l.swap(i, (i-1)/2)
		i = (i - 1) / 2
	}
}

func (l *Ranks) down(i int) {
	for {
		least := i
		for c := 2*i + 1; c <= 2*i+2 && c < len(l.heap); c++ {
			if l.before(c, least) {
				least = c
			}
		}
		if least == i {
			return
		}
		l.swap(i, least)
		i = least
	}
}
