package shed

import "time"

// How much is shed is what does not fit. Over the next while, the horizon, the
// class serves what its slots can (Little: slots / holding time), and may let the
// queue grow to, or has to shrink it to, the length at which it is kept:
//
//	fits  = slots / holding x (horizon + target wait - wait)
//	share = 1 - fits / (demand x horizon)
//
// The first part of it, 1 - sustainable / demand, is known before anybody has
// waited. The second corrects what the first cannot know: an estimate that is off
// by one per cent lets a queue grow without end, and decisions that are held for
// sessions take effect late.
//
// The wait is kept short, at a third of what is allowed and at most the time of one
// call, for what it is good for: that no slot is idle between two requests. With an
// eighth 64 slots of 8 ms idled for 1 % of the time under twice their load, with this
// for 0.6 % (random arrivals, virtual time). The horizon
// says how hard a queue is fought. It is four times the allowed wait, so that a
// room that is full at half of the load is left to empty by itself, and at least
// 0.2 s, so that chance in the arrivals of a few milliseconds sheds nobody.
const (
	targetShare   = 3
	horizonTimes  = 4
	horizonLeast  = 200 * time.Millisecond
	horizonMost   = 2 * time.Second
	horizonCalls  = 20 // times the holding time, where that is more
	allowedAtMost = time.Hour
)

// Tenths of the allowed wait from which on some decisions, and all, do not hold.
const (
	urgentFrom   = 7
	urgentForAll = 9
)

// wait returns how long an arrival would wait now.
func (d *Load) wait() time.Duration {
	if d.Slots <= 0 {
		return 0
	}
	return time.Duration(min(float64(d.Waiting)*float64(d.Holding)/float64(d.Slots), float64(allowedAtMost)))
}

func (d *Load) allowed() time.Duration { return min(max(d.AllowedWait, 0), allowedAtMost) }

// target is how long it should.
func (d *Load) target() time.Duration { return min(d.allowed()/targetShare, max(d.Holding, 0)) }

func (d *Load) horizon() time.Duration {
	most := max(horizonMost, min(horizonCalls*min(d.Holding, allowedAtMost), allowedAtMost))
	return min(max(horizonTimes*d.allowed(), horizonLeast), most)
}

// urgency says how far, from 0 to 1, the queue has grown to where decisions that
// are held no longer hold: those who were to be served in full would not be served
// in time.
func (d *Load) urgency() float64 {
	most := min(d.allowed(), 2*d.horizon())
	from, to := most/10*urgentFrom, most/10*urgentForAll
	over := float64(d.wait() - from)
	if over <= 0 {
		return 0
	}
	return min(over/float64(max(to-from, 1)), 1)
}

// sustainable is what the slots serve a second; 0: not known.
func (d *Load) sustainable() float64 {
	if d.Slots <= 0 || d.Holding <= 0 {
		return 0
	}
	return float64(d.Slots) / d.Holding.Seconds()
}

// next returns the share from now on. It rises at once, and falls when that much
// less would do, by so much a second: what was shed comes back in steps, and a
// queue that dips for a moment brings back little.
func (l *Law) next(dt time.Duration) float64 {
	sustainable := l.load.sustainable()
	released := l.share - float64(float64(l.rule.Release)/1e6*dt.Seconds())
	if sustainable == 0 {
		return max(released, 0)
	}
	ahead := float64(l.load.target() - l.load.wait())
	fits := max(float64(sustainable*(1+ahead/float64(l.load.horizon()))), 0)
	spare := 1 - float64(l.rule.Hysteresis)/1e6
	rise := lacking(fits, l.demand.sure())
	fall := lacking(float64(fits*spare), l.demand.total)
	return max(rise, min(l.share, max(fall, released)), 0)
}

// lacking returns the part of what is offered that does not fit.
func lacking(fits, offered float64) float64 {
	if offered <= fits {
		return 0
	}
	return 1 - fits/offered
}
