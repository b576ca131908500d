package store

import (
	"fmt"
	"time"

	"github.com/spillway-dev/spillway/workload/dice"
)

// Draws are one round's chance. Its methods change nothing and may be called at
// the same time.
type Draws struct {
	seed      uint64
	round     int
	waits     dice.Dice
	customers dice.Dice
	pauses    dice.Dice
	law       Law
	slow      int // millionths of the requests that are the slow customer's
}

// NewDraws returns the dice of a round, numbered from 0. Slow is the share of
// the requests, in millionths, that one slow customer makes, whose every lookup
// freezes; 0: nobody.
func NewDraws(seed uint64, round int, law Law, slow int) *Draws {
	return &Draws{
		seed: seed, round: round, law: law, slow: slow,
		waits:     *dice.New(seed, fmt.Sprintf("store/%d/waits", round)),
		customers: *dice.New(seed, fmt.Sprintf("store/%d/customers", round)),
		pauses:    *dice.New(seed, fmt.Sprintf("store/%d/pauses", round)),
	}
}

// Wait returns how long the attempt of a request, counted from 1, holds a slot
// of the store when nothing else is wrong, and whether it freezes.
func (w *Draws) Wait(request int64, attempt uint16) (wait time.Duration, frozen bool) {
	law := w.law
	if w.slow > 0 {
		if d := w.customers.At(uint64(request), 0); d.Intn(1_000_000) < w.slow {
			law = freeze
		}
	}
	d := w.waits.At(uint64(request), uint64(attempt))
	return law.draw(&d)
}

// Dice returns what a request's pauses are drawn from, never 0. It is a stream of
// its own: a pause that is drawn changes no wait.
func (w *Draws) Dice(request int64) uint64 {
	d := w.pauses.At(uint64(request), 0)
	return d.Uint64() | 1
}

// Arrivals returns the Poisson instants of a round at rate per second, within
// length. The same round of another rate has the same luck, closer together.
func (w *Draws) Arrivals(rate float64, length time.Duration) []time.Duration {
	d := dice.New(w.seed, fmt.Sprintf("store/%d/arrivals", w.round))
	all := make([]time.Duration, 0, int(float64(rate*length.Seconds())*1.1)+16)
	at := 0.0
	for {
		at += d.Exp()
		t := time.Duration(float64(at * (1e9 / rate)))
		if t >= length {
			return all
		}
		all = append(all, t)
	}
}

// Busy says when the store's disk is busy, so that all lookups are slow together.
type Busy struct {
	Every  time.Duration // mean distance from one busy time to the next
	For    time.Duration // at least, and less than twice as long
	Factor int64         // waits of lookups that begin in one are so many times as long
}

// span is a busy time.
type span struct{ from, to time.Duration }

// spans returns the busy times of a copy.
func (w *Draws) spans(b Busy, copy int, length time.Duration) []span {
	if b.Every <= 0 {
		return nil
	}
	d := dice.New(w.seed, fmt.Sprintf("store/%d/busy/%d", w.round, copy))
	var all []span
	for at := time.Duration(0); ; {
		at += time.Duration(float64(d.Exp() * float64(b.Every)))
		if at >= length {
			return all
		}
		s := span{at, at + b.For + time.Duration(d.Intn(max(1, int(b.For))))}
		all, at = append(all, s), s.to
	}
}
