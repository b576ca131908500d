package shed

import (
	"math/bits"
	"time"

	"github.com/spillway-dev/spillway/policy/chance"
	"github.com/spillway-dev/spillway/policy/unit"
)

// A decision about a session holds while a stretch of it lasts. What is held is
// how far the session was shed and from which level on it was served in full: a
// decision about a level is one about all beyond it, so that a session is never
// served in full what is worth less to it than what it was shed.
//
// There is room for so many sessions and no more, in sets of four. Who finds none
// is decided by the cut as it is now, which is what was held unless the cut has
// moved over the session meanwhile.
type held struct {
	sets  [][ways]hold
	until unit.Instant // by when no session is held as shed any more
}

// hold is a session, as its hash, and what is held about it.
type hold struct {
	session, stretch uint32
	until            uint32 // in ticks
	shed             uint8  // levels below this were shed
	full             uint8  // levels from this on were not
}

const (
	ways     = 4
	tickBits = 26 // a tick is 67 ms
)

func tick(at unit.Instant) uint32 { return uint32(max(at, 0) >> tickBits) }

// grow makes the table. Its size is a power of two.
func (h *held) grow(sessions int) {
	sets := 1 << bits.Len(uint((min(sessions, SessionsMax)-1)/ways))
	h.sets = make([][ways]hold, sets)
}

// of returns the place of the session with that key, which is its own if something
// is held about it.
func (h *held) of(now unit.Instant, key, stretch uint64) (at *hold, its bool) {
	session, part := uint32(key>>32), uint32(chance.Mix(stretch)>>32)
	set := &h.sets[int(key&uint64(len(h.sets)-1))]
	at = &set[0]
	for i := range set {
		e := &set[i]
		if e.session == session && e.until > 0 {
			return e, e.stretch == part && e.until > tick(now)
		}
		if e.until < at.until {
			at = e
		}
	}
	return at, false
}

// begin holds for a new stretch of the session, and nothing about it yet. Where
// sessions have no stretches each has one of a span after the other, all beginning at
// other instants, so that few sessions are moved at once.
func (e *hold) begin(now unit.Instant, key, stretch uint64, span time.Duration) {
	until := now.Add(span)
	if stretch == 0 {
		until = until.Add(-time.Duration((uint64(max(now, 0)) + key) % uint64(span)))
	}
	*e = hold{uint32(key >> 32), uint32(chance.Mix(stretch) >> 32), tick(until) + 1, 0, levels}
}

// hold decides about a request of a session: as is held about it, but for what is shed
// in excess.
func (l *Law) hold(now unit.Instant, a *Ask, level int) bool {
	sheds, last := l.holds(now, a, level), level >= l.cut.level
	l.excess.count(sheds, last)
	return sheds && !(last && l.excess.spare > 0 && l.alone() < l.excess.spare)
}

// holds is what is held about a request's session, and decided if nothing is.
func (l *Law) holds(now unit.Instant, a *Ask, level int) bool {
	key := chance.Mix(a.Session ^ l.seed)
	if a.Kept { // it gets the answer that it would get anyway
		return l.sheds(&l.cut, now, key, level)
	}
	if l.held.sets == nil {
		l.held.grow(l.rule.Sessions)
	}
	h, its := l.held.of(now, key, a.Stretch)
	if !its {
		h.begin(now, key, a.Stretch, l.rule.Span)
	}
	switch {
	case level < int(h.shed):
		return true
	case level >= int(h.full):
		if !l.sheds(&l.must, now, key, level) {
			return false
		}
		h.full = uint8(level + 1)
	case !l.sheds(&l.cut, now, key, level):
		h.full = uint8(level)
		return false
	}
	h.shed = uint8(level + 1)
	l.held.until = max(l.held.until, now.Add(l.rule.Span))
	return true
}

// sheds reports whether a cut sheds the session with that key. Few levels are the
// cut's own, for which alone a session's place is asked.
func (l *Law) sheds(c *cut, now unit.Instant, key uint64, level int) bool {
	return level < c.level || level == c.level && l.place(now, key) < c.part
}

// saltPlace keeps who comes first in a bucket apart from every other share.
const saltPlace chance.Salt = 0x73_68_65_64 // "shed"

// place returns where the session with that key stands in its bucket. Sessions are
// dealt new places one after the other, all of them once in Rule.Redeal.
func (l *Law) place(now unit.Instant, key uint64) int {
	every := uint64(l.rule.Redeal)
	deal := (uint64(max(now, 0)) + key%every) / every
	return chance.Place(saltPlace+chance.Salt(deal), key)
}

// alone returns a place for a request without a session: they are spread evenly,
// so that of any few in a row the right share is shed.
func (l *Law) alone() int {
	const golden = 0x9e3779b97f4a7c15 // 2^64 over the golden ratio
	l.lone += golden
	hi, _ := bits.Mul64(l.lone, chance.Whole)
	return int(hi)
}
