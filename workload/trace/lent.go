package trace

import (
	"time"

	"github.com/spillway-dev/spillway/workload"
	"github.com/spillway-dev/spillway/workload/dice"
)

// lent gives requests that never ran, such as those that were refused, the
// service time of another of their class: one of the last few that were read,
// drawn from the seed. As lines are read ahead of being offered, there is one
// from the start if there is any.
type lent struct {
	dice    *dice.Dice
	timed   bool
	classes []lending // by class; those beyond classesMost share the first
}

const (
	lendingSize = 64
	classesMost = 1024
)

type lending struct {
	times [lendingSize]time.Duration
	n     int // kept so far
}

func (l *lent) of(class workload.Name) *lending {
	i := int(class)
	if i >= classesMost {
		i = 0
	}
	for len(l.classes) <= i {
		l.classes = append(l.classes, lending{})
	}
	return &l.classes[i]
}

// keep notes how long a request took, if that is known.
func (l *lent) keep(a *workload.Arrival) {
	if l.timed && a.Service > 0 {
		c := l.of(a.Class)
		c.times[c.n%lendingSize] = a.Service
		c.n++
	}
}

// fill gives a request a service time, if it has none and there is one.
func (l *lent) fill(a *workload.Arrival) {
	if !l.timed || a.Service > 0 {
		return
	}
	if c := l.of(a.Class); c.n > 0 {
		a.Service = c.times[l.dice.Intn(min(c.n, lendingSize))]
	}
}
