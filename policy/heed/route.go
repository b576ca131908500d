package heed

import (
	"time"

	"github.com/spillway-dev/spillway/policy/quota"
	"github.com/spillway-dev/spillway/policy/reason"
	"github.com/spillway-dev/spillway/policy/unit"
)

// Pauses of a service that does not say how long, and the longest that is believed.
const (
	PauseFirst   = time.Second
	PauseUnsaid  = time.Minute
	PauseLongest = 24 * time.Hour
)

// Left is what a service says is left of one limit.
type Left struct {
	Said  bool
	Limit int64         // the limit itself; 0: not said
	Left  int64         // of it
	Full  time.Duration // until all of it is there again; 0: not said
}

// Route is one service. The zero Route has said nothing.
type Route struct {
	until  unit.Instant
	unsaid time.Duration // the last pause that it did not say the length of; 0: none in a row
	calmed bool          // a call has succeeded since
	limits [quota.Units]limit
}

// limit is one limit as it was told.
type limit struct {
	Left
	at unit.Instant
}

// Verdict is whether a call may be sent.
type Verdict struct {
	// Reason is None if it may.
	Reason reason.Reason
	// After is in how long it may, as far as is known.
	After time.Duration
}

// Pause takes that the service has no room. wait is in how long it is to be asked
// again; 0: it has not said.
func (r *Route) Pause(now unit.Instant, wait time.Duration) {
	if wait <= 0 {
		if now < r.until && r.unsaid > 0 {
			return // it is the same trouble, told again by a call that was under way
		}
		if r.unsaid == 0 || r.calmed {
			r.unsaid = PauseFirst
		} else {
			r.unsaid = min(2*r.unsaid, PauseUnsaid)
		}
		wait, r.calmed = r.unsaid, false
	}
	r.until = max(r.until, now.Add(min(wait, PauseLongest)))
}

// Resume ends a pause. It is an operator's word.
func (r *Route) Resume() { r.until, r.unsaid = 0, 0 }

// Succeeded takes that a call which was sent at that instant was served. One that was
// sent before a pause says nothing about what comes after it.
func (r *Route) Succeeded(sent unit.Instant) {
	if sent >= r.until {
		r.calmed = true
	}
}

// Paused returns how long nobody asks it; 0: it may be asked.
func (r *Route) Paused(now unit.Instant) time.Duration { return max(r.until.Sub(now), 0) }

// Told takes what is left of a limit of that unit.
func (r *Route) Told(now unit.Instant, u quota.Unit, l Left) {
	if l.Said {
		l.Left, l.Full = max(l.Left, 0), min(max(l.Full, 0), PauseLongest)
		r.limits[u] = limit{l, now}
	}
}

// Took takes that a call was sent which takes so much.
func (r *Route) Took(a quota.Amounts) {
	for u := range r.limits {
		if l := &r.limits[u]; l.Said {
			l.Left.Left = max(l.Left.Left-max(a[u], 0), -quota.MostMax)
		}
	}
}

// Admit returns whether a call that takes so much may be sent. It changes nothing. Of
// several limits without room it names the one that has room last.
func (r *Route) Admit(now unit.Instant, a quota.Amounts) (v Verdict) {
	if wait := r.Paused(now); wait > 0 {
		return Verdict{reason.BreakerOpen, wait}
	}
	for u := range r.limits {
		wait := r.limits[u].fits(now, max(a[u], 0))
		if wait > 0 && wait > v.After {
			v = Verdict{why(quota.Unit(u)), wait}
		}
	}
	return v
}

// fits returns in how long the limit has room for so much; 0: it has now.
func (l *limit) fits(now unit.Instant, want int64) time.Duration {
	passed := now.Sub(l.at)
	switch {
	case !l.Said || want == 0 || l.Full == 0 || passed >= l.Full:
		return 0 // nothing is known of it
	case l.Limit <= 0:
		if l.Left.Left >= want {
			return 0
		}
		return l.Full - passed
	}
	want = min(want, l.Limit)
	if l.Left.Left >= want {
		return 0
	}
	missing := max(l.Limit-l.Left.Left, 1) // comes in the time until it is full
	needs := time.Duration(float64(float64(l.Full)*float64(want-l.Left.Left)) / float64(missing))
	return max(needs-passed, 0)
}

func why(u quota.Unit) reason.Reason {
	switch u {
	case quota.Requests:
		return reason.QuotaRequests
	case quota.Concurrent:
		return reason.QuotaConcurrency
	}
	return reason.QuotaTokens
}

// Spread returns in how long the caller of that number is to come back: a little later
// than it may, by up to a quarter, so that those who were told the same do not all come
// at the same instant. Numbers that differ give instants that differ.
func (v Verdict) Spread(number uint64) time.Duration {
	const golden = 0x9E3779B97F4A7C15 // multiples of it fill the range evenly
	part := (number * golden) >> 34   // 30 bits
	return v.After + time.Duration(uint64(v.After/4)>>30*part+(uint64(v.After/4)&(1<<30-1))*part>>30)
}
