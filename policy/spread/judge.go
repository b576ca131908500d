package spread

import (
	"slices"
	"time"

	"github.com/spillway-dev/spillway/policy/unit"
)

// Outcome is what a call says about the copy that was called.
type Outcome uint8

// The outcomes.
const (
	// Nothing: the caller went, or the call was cut for another reason that is
	// not the copy's.
	Nothing Outcome = iota
	// Answered: it did what it was asked.
	Answered
	// Busy: it said that it has too much to do (429, 503).
	Busy
	// Failed: it could not be reached, broke off, or answered with any other
	// server error.
	Failed
	// Late: it had not answered when the call's time was over.
	Late
)

var outcomeNames = [...]string{"nothing", "answered", "busy", "failed", "late"}

// String returns the outcome in one word.
func (o Outcome) String() string { return outcomeNames[o] }

// Judge says what came of a call to the copy that took so long. It is to be
// said once for a call, before its Done.
func (s *Spread) Judge(now unit.Instant, c Copy, o Outcome, took time.Duration) {
	k := &s.copies[c]
	if !k.used || k.draining || o == Nothing {
		return
	}
	if o == Late {
		if took < LateFactor*s.usual.Value() {
			return
		}
		o = Failed
	}
	stale := now.Add(-took) < max(k.back, k.since) // it is about the time before
	switch o {
	case Answered:
		s.usual.Add(took)
		k.row = 0
		k.recent.add(now, s.cfg.Window, false)
		if k.good++; k.ejected && !stale && k.good >= s.cfg.InARow {
			k.ejected = false
			s.settle(now, c)
		}
	case Busy:
		k.souring(now)
		k.row = 0
		k.recent.add(now, s.cfg.Window, false)
	case Failed:
		k.souring(now)
		k.good = 0
		if stale {
			return
		}
		k.row++
		k.recent.add(now, s.cfg.Window, true)
		if !s.cfg.Keep && !k.ejected && (k.row >= s.cfg.InARow || k.recent.tops(s.cfg.Share)) {
			s.eject(now, c)
		}
	}
}

func (s *Spread) eject(now unit.Instant, c Copy) {
	k := &s.copies[c]
	forgiven := int(min(now.Sub(k.back)/s.cfg.For, TimesMax))
	k.times = min(max(k.times-forgiven, 0)+1, TimesMax)
	k.ejected, k.since, k.until = true, now, now.Add(time.Duration(k.times)*s.cfg.For)
	k.recent, k.good = share{}, 0
	s.wake = min(s.wake, k.until)
	s.settle(now, c)
}

// readmit ends the ejections whose time is over.
func (s *Spread) readmit(now unit.Instant) {
	s.wake = unit.Never
	for i := range s.copies {
		k := &s.copies[i]
		switch {
		case !k.ejected:
		case k.until <= now:
			k.ejected, k.row = false, s.cfg.InARow-1 // the next failure is one too many
			s.settle(now, Copy(i))
		default:
			s.wake = min(s.wake, k.until)
		}
	}
}

// Checked says what a check of the copy, made by somebody else, came to.
func (s *Spread) Checked(now unit.Instant, c Copy, healthy bool) {
	k := &s.copies[c]
	if !k.used || k.draining {
		return
	}
	if healthy {
		k.fails = 0
		k.passes = min(k.passes+1, s.cfg.Healthy)
		if k.passes >= s.cfg.Healthy || !k.known && !k.down {
			k.down = false
		}
		k.known = true
	} else {
		k.passes = 0
		k.fails = min(k.fails+1, s.cfg.Unhealthy)
		// One that was never seen well is not given the benefit of the doubt.
		k.down = k.down || k.fails >= s.cfg.Unhealthy || !k.known
	}
	s.settle(now, c)
}

// settle moves the copy to where it belongs after what is known of it changed.
func (s *Spread) settle(now unit.Instant, c Copy) {
	k := &s.copies[c]
	at := slices.Index(s.bad, c)
	switch bad := (k.ejected || k.down) && k.weight > 0; {
	case bad && at < 0:
		k.badSince = now
		s.bad = append(s.bad, c)
	case !bad && at >= 0:
		k.back = now
		if k.out {
			k.startSlowly(now, now.Sub(k.badSince))
		}
		s.forgive(c)
	}
	s.arrange()
}

// forgive strikes the copy off the list of the bad.
func (s *Spread) forgive(c Copy) {
	if at := slices.Index(s.bad, c); at >= 0 {
		s.bad = slices.Delete(s.bad, at, at+1)
	}
}

// arrange says of every copy whether it is out: of the bad the first, as many
// as the floor allows, and none if all are bad.
func (s *Spread) arrange() {
	out := min(len(s.bad), s.open*s.cfg.AtMost/100)
	if s.Panic() {
		out = 0
	}
	for i := range s.copies {
		k := &s.copies[i]
		if is := slices.Contains(s.bad[:out], Copy(i)); is != k.out {
			k.out = is
			s.moves++
		}
	}
}
