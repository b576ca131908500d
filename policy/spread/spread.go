package spread

import (
	"slices"
	"time"

	"github.com/spillway-dev/spillway/policy/estimate"
	"github.com/spillway-dev/spillway/policy/unit"
)

// Copy names a copy of a Spread. Numbers are used again once a copy has gone.
type Copy int32

// None is no copy.
const None Copy = -1

// Spread is the copies of one upstream. Create it with New.
type Spread struct {
	cfg     Config
	copies  []one  // by Copy; those not used are blank
	bad     []Copy // in the order in which they turned bad
	count   int    // in use and not draining
	open    int    // of these, those with a weight
	weights int    // of these, together
	uneven  bool   // not all of these weights are the same
	turn    int    // where the next round of equals begins
	wake    unit.Instant
	moves   int64         // copies that went out or came back
	usual   estimate.Mean // time of answered calls, of all copies
}

// one is a copy.
type one struct {
	used, draining bool
	out            bool // gets no turns, for it is bad; arrange keeps it
	flying         int  // given to it and not ended
	weight         int
	most           int          // it is given before it counts as saturated
	turns          int          // weights earned towards its next turn; all zero if weights are even
	rested         unit.Instant // since when it has had no weight
	seen           sight        // by the Take that looked last

	row, good int // failures and answers in a row
	recent    share
	sour      int // failures and refusals that count as load, as of soured
	soured    unit.Instant

	ejected  bool // until, unless answers bring it back
	since    unit.Instant
	until    unit.Instant
	times    int // in short order
	down     bool
	known    bool // has passed a check
	passes   int
	fails    int
	badSince unit.Instant

	back   unit.Instant // came back, or was new
	ramp   time.Duration
	credit int // in partsOfOne, for a turn while it ramps
}

// New returns a spread without copies. The seed says with whom the first round
// begins, so that many gateways do not all begin with the same copy.
func New(cfg Config, seed uint64) *Spread {
	return &Spread{cfg: cfg.withDefaults(), turn: int(seed % CopiesMax), wake: unit.Never}
}

// Reconfigure applies another configuration. What is known of the copies stays,
// and what is out stays out for as long as it was told.
func (s *Spread) Reconfigure(cfg Config) {
	s.cfg = cfg.withDefaults()
	s.deal()
	s.arrange()
}

// Add takes a copy of weight 1 in, or reports that there are CopiesMax already. A fresh one
// starts slowly, as one that was out for Config.For.
func (s *Spread) Add(now unit.Instant, fresh bool) (Copy, bool) {
	if s.count >= CopiesMax {
		return None, false
	}
	i := slices.IndexFunc(s.copies, func(k one) bool { return !k.used })
	if i < 0 {
		i = len(s.copies)
		s.copies = append(s.copies, one{})
		s.bad = slices.Grow(s.bad, len(s.copies)-len(s.bad))
	}
	s.copies[i] = one{used: true, weight: 1, back: now, until: unit.Never}
	if fresh {
		s.copies[i].startSlowly(now, s.cfg.For)
	}
	s.count++
	s.open++
	s.weights++
	s.deal()
	s.arrange()
	return Copy(i), true
}

// Drain gives the copy no more turns, and reports whether it has gone at once;
// else it goes with the last Done.
func (s *Spread) Drain(c Copy) (gone bool) {
	k := &s.copies[c]
	if !k.draining {
		if !k.resting() {
			s.open--
		}
		k.draining = true
		s.count--
		s.weights -= k.weight
		s.deal()
		s.forgive(c)
		s.arrange()
	}
	return s.gone(k)
}

func (s *Spread) gone(k *one) bool {
	if !k.draining || k.flying > 0 {
		return false
	}
	*k = one{}
	return true
}

// Done says that a request that Take gave to the copy has ended there, and
// reports whether the copy has gone with it.
func (s *Spread) Done(c Copy) (gone bool) {
	k := &s.copies[c]
	if k.flying == 0 {
		panic("BUG: spread: a request ended that was never given")
	}
	k.flying--
	return s.gone(k)
}

// Changes counts the copies that went out or came back: as long as it is the
// same, State.Out is too, for every copy.
func (s *Spread) Changes() int64 { return s.moves }

// Copies returns how many copies there are, those that drain left out.
func (s *Spread) Copies() int { return s.count }

// share counts calls and failures over the last half to whole of a window.
type share struct {
	calls, failed [2]int // of the half that passed, of the one that passes
	begun         unit.Instant
}

func (h *share) add(now unit.Instant, window time.Duration, failed bool) {
	switch d := now.Sub(h.begun); {
	case d >= window:
		*h = share{begun: now}
	case d >= window/2:
		h.calls[0], h.failed[0] = h.calls[1], h.failed[1]
		h.calls[1], h.failed[1] = 0, 0
		h.begun = now
	}
	h.calls[1]++
	if failed {
		h.failed[1]++
	}
}

// tops reports whether at least percent of enough calls failed.
func (h *share) tops(percent int) bool {
	calls := h.calls[0] + h.calls[1]
	return calls >= ShareCalls && (h.failed[0]+h.failed[1])*100 >= calls*percent
}
