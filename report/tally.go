package report

import "github.com/spillway-dev/spillway/policy/reason"

// A Tally counts the requests of one tenant in one class. Its methods allocate
// nothing once memory is warm. Like its collector it is not safe for concurrent use.
type Tally struct {
	class  *Class
	tenant *tenant
	window int64

	offered      int64
	started      int64
	endedRunning int64 // of the started ones
	endedWaiting int64 // ended without ever having been started
	goodput      int64
	calls        int64
	heldNs       int64
	answered     [maxRungs]int64
	reasons      [maxReasons]int64
	refused      [maxReasons]int64
}

// WaitUnknown is the wait of a request whose driver cannot see the queue: a load
// generator on the other end of a socket.
const WaitUnknown = int64(-1)

// Outcome is how a request ended for its caller. Times are in ns.
type Outcome struct {
	At      int64 // since the start of the run
	Latency int64 // since the request's scheduled arrival
	Rung    Rung  // that answered, or NoRung
	// Reason of the answer, from the closed set or Collector.Reason. One that
	// is missing (reason.None) makes Report.Check fail.
	Reason reason.Reason
	// Started: Tally.Started was called for this request before.
	Started bool
	// InDeadline: answered inside its deadline; a primary answer then counts
	// as goodput, if it came while load was offered (Options.For): a rate is of
	// that time, and what is served afterwards is no part of it.
	InDeadline bool
	Calls      int32 // made to the dependency, retries and hedges included
}

// Offered says that a request arrived at (ns since the start of the run).
func (t *Tally) Offered(at int64) {
	t.offered++
	cl := t.class
	b := cl.bucket(at)
	b.depth = max(b.depth, cl.waiting)
	b.offered++
	cl.waiting++
}

// Started says that a request got its slot at (ns) after it had waited for wait
// ns, 0 where a slot was free, [WaitUnknown] where nobody can know.
func (t *Tally) Started(at, wait int64) {
	t.started++
	cl := t.class
	b := cl.bucket(at)
	b.started++
	cl.waiting--
	if wait < 0 {
		return
	}
	cl.wait.record(wait)
	t.tenant.wait.record(wait, t.tenant)
	b.wait(wait)
}

// Done says that a request's caller was answered, or left. It is called exactly
// once a request.
func (t *Tally) Done(o Outcome) {
	cl := t.class
	b := cl.bucket(o.At)
	if o.Started {
		t.endedRunning++
		b.endedRunning++
	} else {
		t.endedWaiting++
		b.endedWaiting++
		cl.waiting--
	}
	t.calls += int64(o.Calls)
	why := o.Reason % maxReasons
	t.reasons[why]++
	if o.Rung == NoRung {
		t.refused[why]++
		b.refused[why]++
		if why.AtAdmission() {
			cl.refused.record(o.Latency)
			t.tenant.refused.record(o.Latency, t.tenant)
		}
		return
	}
	rung := o.Rung % maxRungs
	t.answered[rung]++
	b.answered[rung]++
	if rung == Primary {
		if o.InDeadline && (t.window == 0 || o.At <= t.window) {
			t.goodput++
		}
		cl.latency.record(o.Latency)
		t.tenant.latency.record(o.Latency, t.tenant)
	}
}

// Held says that a slot came free at (ns) after it had been held for ns
// nanoseconds, by work whose caller had left too. What lies outside
// Options.For is left out.
func (t *Tally) Held(at, ns int64) {
	from := max(0, at-ns)
	if t.window > 0 {
		at = min(at, t.window)
	}
	t.heldNs += max(0, at-from)
}

func (t *Tally) running() int64 { return t.started - t.endedRunning }
func (t *Tally) waiting() int64 { return t.offered - t.started - t.endedWaiting }

func (t *Tally) add(from *Tally) {
	t.offered += from.offered
	t.started += from.started
	t.endedRunning += from.endedRunning
	t.endedWaiting += from.endedWaiting
	t.goodput += from.goodput
	t.calls += from.calls
	t.heldNs += from.heldNs
	for i := range t.answered {
		t.answered[i] += from.answered[i]
	}
	for i := range t.reasons {
		t.reasons[i] += from.reasons[i]
		t.refused[i] += from.refused[i]
	}
}
