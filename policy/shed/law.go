package shed

import (
	"time"

	"github.com/spillway-dev/spillway/policy/unit"
)

// Ask is what the law wants to know of a request.
type Ask struct {
	// Gap is how much worse a cheaper answer is for it.
	Gap Gap
	// Kept says that the primary's own answer to the same question is there still:
	// it is shed before everything else, to the rung that keeps answers.
	Kept bool
	// Session is whose experience must not flicker, as a key; 0 is nobody's.
	Session uint64
	// Stretch tells one part of a session, a sentence or a conversation, from the
	// next, as a key: decisions hold for it, and a session is moved where a new one
	// begins. 0: sessions have no parts, decisions hold for the rule's Span.
	Stretch uint64
}

// Load is what is known of the class when a share is worked out.
type Load struct {
	// Slots is how many the class can have now, those included that it may borrow.
	Slots int
	// Holding is how long a slot is held on average; 0: not known, and nothing is
	// shed.
	Holding time.Duration
	// Waiting is how many wait for a slot.
	Waiting int
	// AllowedWait is how long they may.
	AllowedWait time.Duration
}

// Law says which requests of a class are answered with less. A class owns one. It
// is not safe for concurrent use.
type Law struct {
	rule Rule
	seed uint64

	demand demand
	share  float64 // of what is offered that is shed now
	cut    cut     // for whoever has no decision yet
	must   cut     // for whoever has
	at     unit.Instant
	load   Load
	asked  int    // since then
	lone   uint64 // counts requests without a session
	held   held
	excess excess
}

// New returns the law of a class at its start: it has seen nothing and sheds
// nothing.
func New(r Rule) *Law {
	r = r.WithDefaults()
	return &Law{rule: r, seed: r.Seed}
}

// Reconfigure has the law follow another rule. What it has measured, its share and
// the decisions that it holds stay as they are.
func (l *Law) Reconfigure(r Rule) {
	r = r.WithDefaults()
	if r.Sessions != l.rule.Sessions {
		l.held = held{}
	}
	l.rule = r
}

// The load is looked at again after so long, or so many requests: a queue that
// grows fast is seen while it is short.
const (
	weighEvery = 10 * time.Millisecond
	weighCount = 64
)

// Due reports whether the load is to be looked at before the next decision.
func (l *Law) Due(now unit.Instant) bool {
	return l.asked >= weighCount && now > l.at || now.Sub(l.at) >= weighEvery || l.at == 0
}

// Look works out how much is to be shed, from what was offered since the last look
// and from the load. It takes constant time, about a tenth of a microsecond.
func (l *Law) Look(now unit.Instant, load Load) {
	dt := now.Sub(l.at)
	if l.at == 0 {
		dt = 0
	}
	l.at, l.load, l.asked = max(now, 1), load, 0
	l.demand.look(dt, l.load.wait() > l.load.target())
	l.excess.look(dt, l.demand.window(), l.share, l.demand.total <= load.sustainable())
	l.share = l.next(dt)
	l.cut = l.demand.cut(l.share)
	l.must = l.demand.cut(float64(l.share * l.load.urgency()))
}

// Sheds decides about a request that is offered now, and counts it as demand. It
// takes constant time and allocates nothing, but once the memory for sessions.
func (l *Law) Sheds(now unit.Instant, a *Ask) bool {
	level := a.level()
	l.demand.offered[level]++
	l.asked++
	if l.share <= 0 && now >= l.held.until {
		return false
	}
	if a.Session == 0 {
		return level < l.cut.level || level == l.cut.level && l.alone() < l.cut.part
	}
	return l.hold(now, a, level)
}

// Share returns the share of what is offered that is shed, in millionths.
func (l *Law) Share() int { return int(float64(l.share*1e6) + 0.5) }
