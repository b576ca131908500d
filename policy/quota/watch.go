package quota

import (
	"time"

	"github.com/spillway-dev/spillway/policy/unit"
)

// Watch tells who of those that share a store has died, by how long each has said
// nothing. It goes by what passes for whoever watches and by no instant that two
// clocks would have to agree on: no clock that is set, the store's included, makes
// anybody dead.
//
// The zero Watch has seen nobody. It is used by one at a time.
type Watch struct {
	// Heartbeat is how often each is to be heard of, DeadAfter how long one may say
	// nothing, at least twice as long.
	Heartbeat, DeadAfter time.Duration

	last   unit.Instant
	looked bool
	heard  map[string]silence
}

// Beat is what somebody has said last: N is another one each time.
type Beat struct {
	Owner string
	N     int64
}

type silence struct {
	n     int64
	lasts time.Duration
}

// Look takes down what all have said by now, and returns who has said nothing for
// DeadAfter, in the order of the list. Looks are to be no more than a heartbeat apart.
// What passed between two counts for a heartbeat at most: who watches was stopped
// then, or could not reach the store, and no more could the others. Whoever is seen
// for the first time is alive.
func (w *Watch) Look(now unit.Instant, beats []Beat) (dead []string) {
	var passed time.Duration
	if w.looked {
		passed = min(max(now.Sub(w.last), 0), w.Heartbeat)
	}
	w.last, w.looked = now, true
	heard := make(map[string]silence, len(beats))
	for _, b := range beats {
		s := silence{n: b.N}
		if was, known := w.heard[b.Owner]; known && was.n == b.N {
			s.lasts = was.lasts + passed
		}
		heard[b.Owner] = s
		if s.lasts >= w.DeadAfter {
			dead = append(dead, b.Owner)
		}
	}
	w.heard = heard
	return dead
}
