package call

import (
	"time"

	"github.com/spillway-dev/spillway/policy/chance"
	"github.com/spillway-dev/spillway/policy/unit"
)

// breaker stops calls to a dependency that does not answer, and lets them back in
// portions.
//
// Closed, it counts what calls come to. When a rule is broken it opens, for a time
// that doubles while its probes keep failing. Then it is half open: so many probes
// at once, each on a lease that runs out by itself, so that one that is never
// heard of again wedges nothing. The first that is answered well closes it, the
// first that is not opens it again. Closed again, it recovers: a share of calls
// that grows over a quarter of the outage, at most RecoverMax, because those who
// waited for the dependency must not be what takes it down again.
//
// Each lease belongs to an era, which ends when the state changes: what began
// before the opening, or beside the probe that decided, changes nothing.
//
// Not safe for concurrent use. A call of a method takes nanoseconds and allocates
// nothing.
type breaker struct {
	rule   Breaker
	failed int64 // shares, in millionths; 0: no rule
	slow   int64

	phase   BreakerState
	era     uint32
	spread  bool         // until has been spread
	times   uint8        // how often it opened without recovering between
	since   unit.Instant // when the outage began
	changed unit.Instant // when the phase did
	until   unit.Instant // when it ends: open, recovering

	row    int // failures since the last good answer
	recent recent

	credit int64 // towards the next call while recovering
	serial uint16
	probes [ProbesMax]struct {
		until  unit.Instant // of the lease; 0: free
		serial uint16
	}
}

// BreakerState is which calls a breaker admits.
type BreakerState uint8

// The states.
const (
	// Closed: all.
	Closed BreakerState = iota
	// Open: none.
	Open
	// HalfOpen: probes.
	HalfOpen
	// Recovering: a growing share.
	Recovering
)

// String returns the state as every surface shows it.
func (s BreakerState) String() string {
	return [...]string{"closed", "open", "half_open", "recovering"}[s]
}

// verdict is what an attempt says of the dependency.
type verdict uint8

const (
	neutral verdict = iota // nothing
	good
	bad
)

// lease is the right to make one attempt: the era, and for a probe its place
// among the probes, from 1, and a serial number. 0 is of no breaker.
type lease uint64

func newLease(era uint32, serial uint16, place int) lease {
	return lease(era)<<32 | lease(serial)<<16 | lease(place)
}

func (l lease) era() uint32    { return uint32(l >> 32) }
func (l lease) serial() uint16 { return uint16(l >> 16) }
func (l lease) place() int     { return int(uint16(l)) }

// probe reports whether the attempt is a probe.
func (l lease) probe() bool { return l.place() > 0 }

func newBreaker(c Breaker) breaker {
	b := breaker{era: 1} // no lease is 0
	b.set(c)
	return b
}

// set changes the rules and keeps what was counted, and the state. One that is
// switched off is closed and forgets.
func (b *breaker) set(c Breaker) {
	b.rule = c.withDefaults()
	b.failed, b.slow = millionths(c.Failures), millionths(c.Slow)
	b.recent.width = max(b.rule.Window/recentSteps, 1)
	if !b.on() {
		b.phase, b.row, b.recent = Closed, 0, recent{width: b.recent.width}
		b.era++
	}
}

// on reports whether there is any rule.
func (b *breaker) on() bool { return b.failed > 0 || b.slow > 0 || b.rule.Consecutive > 0 }

// admit asks for one more attempt. Each lease is to be reported, once.
func (b *breaker) admit(now unit.Instant, c *chance.Source) (lease, bool) {
	switch b.phase {
	case Open:
		if !b.spread { // so that clients do not probe together who failed together
			b.spread = true
			b.until = b.until.Add(-time.Duration(c.Below(int64(b.until.Sub(b.changed)) / 5)))
		}
		if now < b.until {
			return 0, false
		}
		b.enter(now, HalfOpen)
		b.probes = [len(b.probes)]struct {
			until  unit.Instant
			serial uint16
		}{}
		fallthrough
	case HalfOpen:
		return b.probe(now)
	case Recovering:
		if now < b.until {
			if b.credit += b.share(now); b.credit < whole {
				return 0, false
			}
			b.credit -= whole
			break
		}
		b.phase, b.times = Closed, 0 // the same era: what is counted is of now
	}
	if !b.on() {
		return 0, true
	}
	return newLease(b.era, 0, 0), true
}

// probe leases a place among the probes, if one is free.
func (b *breaker) probe(now unit.Instant) (lease, bool) {
	for i := range min(b.rule.Probes, len(b.probes)) {
		if p := &b.probes[i]; p.until <= now {
			b.serial++
			p.until, p.serial = now.Add(b.rule.ProbeTimeout), b.serial
			return newLease(b.era, b.serial, i+1), true
		}
	}
	return 0, false
}

// share returns which share of calls is admitted while it recovers, in
// millionths: from a tenth, linear.
func (b *breaker) share(now unit.Instant) int64 {
	in, all := now.Sub(b.changed), b.until.Sub(b.changed)
	return whole/10 + int64(float64(max(in, 0))/float64(all)*(whole-whole/10))
}

// report says what came of the attempt and how long it took. A verdict that is
// neutral counts all the same if the attempt was slow.
func (b *breaker) report(now unit.Instant, l lease, v verdict, took time.Duration) {
	if l == 0 || l.era() != b.era {
		return
	}
	slow := b.slow > 0 && took >= b.rule.SlowAfter
	if b.phase == HalfOpen {
		b.probed(now, l, v, slow)
		return
	}
	if v == neutral && !slow {
		return
	}
	b.recent.add(now, v == bad, slow)
	switch v {
	case good:
		b.row = 0
	case bad:
		b.row++
	}
	if v == good && !slow || !b.broken(now) {
		return
	}
	if b.closed(now) {
		b.since, b.times = now, 0
	}
	b.open(now)
}

// broken reports whether a rule is.
func (b *breaker) broken(now unit.Instant) bool {
	if n := b.rule.Consecutive; n > 0 && b.row >= n {
		return true
	}
	calls, failed, slow := b.recent.sums(now)
	return calls >= int64(b.rule.MinCalls) &&
		(b.failed > 0 && failed*whole >= calls*b.failed || b.slow > 0 && slow*whole >= calls*b.slow)
}

// probed is a report of a probe. One whose lease has run out is believed like
// any other: a dependency that is slower than leases are long must not stay
// closed off.
func (b *breaker) probed(now unit.Instant, l lease, v verdict, slow bool) {
	if p := &b.probes[l.place()-1]; p.serial == l.serial() {
		p.until = 0
	}
	switch {
	case v == bad || slow:
		b.open(now)
	case v == good:
		b.recover(now)
	}
}

func (b *breaker) open(now unit.Instant) {
	b.enter(now, Open)
	b.until = now.Add(doubled(min(b.rule.OpenFor, b.rule.OpenMax), int(b.times), b.rule.OpenMax))
	b.spread = false
	b.times = min(b.times+1, 62)
}

func (b *breaker) recover(now unit.Instant) {
	b.enter(now, Recovering)
	b.until = now.Add(min(now.Sub(b.since)/4, RecoverMax))
	b.credit = whole // the first is admitted
	b.row, b.recent = 0, recent{width: b.recent.width}
}

// enter begins a state, and an era.
func (b *breaker) enter(now unit.Instant, s BreakerState) {
	b.phase, b.changed = s, now
	b.era++
}

// closed reports whether all calls are admitted.
func (b *breaker) closed(now unit.Instant) bool {
	return b.phase == Closed || b.phase == Recovering && b.until <= now
}

// opens returns the next instant at which an attempt could be admitted, which
// is now unless it is open, or all probes are under way.
func (b *breaker) opens(now unit.Instant) unit.Instant {
	switch b.phase {
	case Open:
		return max(b.until, now)
	case HalfOpen:
		at := unit.Never
		for i := range min(b.rule.Probes, len(b.probes)) {
			at = min(at, b.probes[i].until)
		}
		return max(at, now)
	}
	return now
}

// state returns the state, and until when it lasts if time ends it, else
// Never.
func (b *breaker) state(now unit.Instant) (BreakerState, unit.Instant) {
	switch {
	case b.phase == Open && now < b.until, b.phase == Recovering && now < b.until:
		return b.phase, b.until
	case b.phase == Open:
		return HalfOpen, unit.Never
	case b.phase == Recovering:
		return Closed, unit.Never
	}
	return b.phase, unit.Never
}
