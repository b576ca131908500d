package call

import (
	"time"

	"github.com/spillway-dev/spillway/policy/unit"
)

// leave is an attempt's leaving, as far as budgets go.
func (d *Dependency) leave(now unit.Instant, f *flight) {
	if f.left {
		return
	}
	f.left = true
	switch f.kind {
	case first:
		if d.policy.Retries > 0 {
			d.retries.began(now)
		}
		if d.hedging() {
			d.hedges.began(now)
		}
	case retried:
		d.retries.spend(now)
		d.count.Retries++
	case hedged:
		d.hedges.spend(now)
		d.count.Hedges++
	}
}

// stay is the end of an attempt that never left: what was kept for it goes back.
func (d *Dependency) stay(f *flight) {
	switch f.kind {
	case retried:
		d.retries.release()
	case hedged:
		d.hedges.release()
	}
}

func (d *Dependency) hedging() bool {
	return d.policy.Hedge.After > 0 || d.policy.Hedge.Percentile > 0
}

// land takes an attempt that has ended out of those in flight, and teaches what it
// came to. A Neutral one teaches nothing.
func (d *Dependency) land(now unit.Instant, c *Call, i int, o Outcome) {
	f := &c.flying[i]
	if !f.left {
		if o.Result == Unsent || o.Result == Neutral {
			d.stay(f)
		} else {
			d.leave(now, f)
		}
	}
	d.teach(now, c, f, o)
	*f = flight{}
}

func (d *Dependency) teach(now unit.Instant, c *Call, f *flight, o Outcome) {
	took := max(now.Sub(f.sent), 0)
	switch o.Result {
	case Neutral:
		d.report(now, f.lease, neutral, neutral, 0)
		return
	case OK:
		d.report(now, f.lease, good, good, took)
		d.latency.Add(took)
		d.pace.accepted(now, f.sent)
		if f.kind == hedged {
			d.count.HedgesWon++
		}
	case Fault: // it accepted the work, which is all that the throttle asks
		d.report(now, f.lease, bad, good, took)
	default:
		v := o.Result.verdict()
		d.report(now, f.lease, v, v, took)
	}
	if c.hedgeAt != unit.Never {
		d.slow.add(false)
	}
	d.pace.refused(now, o.After)
}

// report tells the breaker and, unless it was a probe, the throttle what came of an
// attempt that both admitted.
func (d *Dependency) report(now unit.Instant, l lease, toBreaker, toThrottle verdict, took time.Duration) {
	d.breaker.report(now, l, toBreaker, took)
	if !l.probe() {
		d.throttle.report(now, toThrottle)
	}
}

// cut is why an attempt is cut off, which decides what that teaches. It is taught
// at the cut and once; what the attempt answers after all is nobody's.
type cut uint8

const (
	late    cut = iota // the try's limit has come
	expired            // the call's deadline has come, before the try's limit
	lost               // the other of the two has answered
	gone               // whoever wanted the answer has left
)

// cutAll cuts off what is in flight, and returns as what a retry has to take it:
// Unsent if surely nothing has left, else Broken.
func (d *Dependency) cutAll(now unit.Instant, c *Call, by cut) (cancel Set, as Outcome) {
	as.Result = Unsent
	for i := range c.flying {
		f := &c.flying[i]
		if f.attempt == 0 {
			continue
		}
		cancel.add(f.attempt)
		if d.cutOff(now, f, by) {
			as.Result = Broken
		}
		*f = flight{}
	}
	return cancel, as
}

// cutOff teaches what a cut-off attempt has to say, and reports whether it may have
// left.
func (d *Dependency) cutOff(now unit.Instant, f *flight, by cut) bool {
	if !f.left {
		if d.tells {
			d.stay(f)
		} else {
			d.leave(now, f)
		}
	}
	took := max(now.Sub(f.sent), 0)
	verdict := neutral
	if by == late || by == expired && d.overdue(took) {
		verdict = bad
	}
	d.report(now, f.lease, verdict, verdict, took)
	// Left out, they would make the percentile that a hedge waits for fall with
	// every hedge that wins. A first has by then outlived it, so that counting it
	// with the time it had is as good as with the time it would have taken.
	if f.kind != hedged && (by == late || by == lost) {
		d.latency.Add(took)
	}
	return f.left
}

// overdue reports whether an attempt cut off by its call's own deadline is to be
// laid at the dependency's door: a caller in a hurry must not open the breaker
// for all. Where the breaker has a bound for slow it applies that itself.
func (d *Dependency) overdue(took time.Duration) bool {
	if t := d.policy.Timeout; t > 0 && took >= t {
		return true
	}
	if d.policy.Breaker.Slow > 0 {
		return false
	}
	return !measured(d.latency.Samples(), tailPercentile) || took >= d.latency.Value(atTail)
}
