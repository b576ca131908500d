package trace

import (
	"time"

	"github.com/spillway-dev/spillway/workload"
	"github.com/spillway-dev/spillway/workload/dice"
)

// pending is a line that waits for earlier ones.
type pending struct {
	at      int64 // ns since 1970, or since some start
	order   int64 // of equal instants the line read first goes first
	count   int64 // how many requests it stands for
	dated   bool
	arrival workload.Arrival
}

// sorter is a binary heap, the earliest line on top.
type sorter struct {
	heap []pending
	seen int64
}

func (s *sorter) push(p pending) {
	p.order = s.seen
	s.seen++
	s.heap = append(s.heap, p)
	i := len(s.heap) - 1
	for parent := (i - 1) / 2; i > 0 && s.before(i, parent); parent = (i - 1) / 2 {
		s.heap[i], s.heap[parent] = s.heap[parent], s.heap[i]
		i = parent
	}
}

func (s *sorter) pop() (pending, bool) {
	if len(s.heap) == 0 {
		return pending{}, false
	}
	top, last := s.heap[0], len(s.heap)-1
	s.heap[0] = s.heap[last]
	s.heap = s.heap[:last]
	for i := 0; ; {
		child := 2*i + 1
		if child >= last {
			return top, true
		}
		if child+1 < last && s.before(child+1, child) {
			child++
		}
		if !s.before(child, i) {
			return top, true
		}
		s.heap[i], s.heap[child] = s.heap[child], s.heap[i]
		i = child
	}
}

func (s *sorter) before(i, j int) bool {
	a, b := &s.heap[i], &s.heap[j]
	return a.at < b.at || a.at == b.at && a.order < b.order
}

// maxCount bounds the requests of one line, counted or scaled: more than any
// site has had in a minute, and drawn in a second.
const maxCount = 100_000_000

// drawing spreads the requests that one line counts over its window: n uniform
// instants in order, in constant memory.
//
// The ordered uniforms are the partial sums of n+1 exponentials divided by
// their total; the dice of a window are rolled twice, once for the total.
type drawing struct {
	dice    *dice.Dice
	windows uint64

	arrival   workload.Arrival
	from, per int64
	left      int64
	roll      dice.Dice
	sum       float64
	scale     float64 // ns a unit of sum
}

func (d *drawing) start(p pending, per time.Duration, scale float64) {
	d.roll = d.dice.At(d.windows, 0)
	d.windows++
	wanted := float64(float64(p.count) * scale)
	d.left = int64(min(wanted, maxCount))
	if d.roll.Bool(wanted - float64(d.left)) {
		d.left++
	}
	d.arrival, d.from, d.per, d.sum = p.arrival, p.at, int64(per), 0
	if d.left == 0 {
		return
	}
	total, again := 0.0, d.roll
	for range d.left + 1 {
		total += again.Exp()
	}
	d.scale = float64(d.per) / total
}

// next sets at to the next instant of the window. Where windows overlap it does
// not step back.
func (d *drawing) next(at *int64, a *workload.Arrival) bool {
	if d.left == 0 {
		return false
	}
	d.left--
	d.sum += d.roll.Exp()
	offset := min(int64(float64(d.sum*d.scale)), d.per-1)
	*at = max(*at, d.from+offset)
	*a = d.arrival
	return true
}
