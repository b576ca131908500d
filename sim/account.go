package sim

import (
	"errors"
	"fmt"
	"time"

	"github.com/spillway-dev/spillway/policy/ladder"
	"github.com/spillway-dev/spillway/policy/reason"
	"github.com/spillway-dev/spillway/policy/unit"
	"github.com/spillway-dev/spillway/report"
)

// describe tells the collector what slots and capacity the resource's classes
// have. Without a boundary they share the upstream's slots in the proportion
// of their own.
func (r *run) describe(res *resource) {
	classes := r.classes[len(r.classes)-len(res.Boundary.Classes):]
	last := -1 // that the report has
	for i, c := range classes {
		if c.asked == 0 {
			last = i
		}
		if c.asked == 0 || !r.Unprotected { // without a boundary rungs are not asked
			res.slots += c.cfg.Pool.Slots
		}
	}
	left := res.Upstream.Slots
	for i, c := range classes {
		if c.asked != 0 && r.Unprotected {
			continue
		}
		own := c.cfg.Pool.Slots
		serves := own // at once, which sets the capacity
		if u := res.Upstream.Slots; u > 0 && res.slots > 0 && (r.Unprotected || u < res.slots) {
			serves = u * own / res.slots
			if i == last && i == len(classes)-1 {
				serves = left
			}
			left -= serves
		}
		if c.asked != 0 {
			continue
		}
		if r.Unprotected {
			own = serves
		}
		cl := r.collector.Class(c.name)
		cl.Slots(0, own)
		r.describeCapacity(cl, res, serves)
	}
	if r.Unprotected && res.Upstream.Slots > 0 {
		res.slots = res.Upstream.Slots
	}
}

// describeCapacity draws the line of what a class can serve, and its steps
// where conditions change. An outage has none.
func (r *run) describeCapacity(cl *report.Class, res *resource, slots int) {
	mean := res.Upstream.Service.Mean()
	if mean <= 0 || slots <= 0 {
		return
	}
	full := float64(slots) / mean.Seconds()
	for at := time.Duration(0); at == 0 || at < r.For; {
		now := res.Upstream.Conditions.At(at)
		if !now.Out() {
			cl.Capacity(max(0, int64(at-r.WarmUp)), full/now.Factor)
		}
		if now.Until == 0 {
			return
		}
		at = now.Until
	}
}

// tally returns the account of an attempt's class and tenant.
func (r *run) tally(a *attempt) *report.Tally {
	c := a.class
	if int(a.tenant) < len(c.tallies) {
		if t := c.tallies[a.tenant]; t != nil {
			return t
		}
	}
	for int(a.tenant) >= len(c.tallies) {
		c.tallies = append(c.tallies, nil)
	}
	t := r.collector.Tally(c.name, r.Names.Tenants.String(a.tenant))
	c.tallies[a.tenant] = t
	return t
}

// bookStart books that an attempt got its slot.
func (r *run) bookStart(a *attempt) {
	a.hasStarted, a.calls = true, 1
	if a.counted {
		a.tally.Started(int64(r.now)-int64(r.WarmUp), int64(r.now-a.arrived))
	}
}

// bookHeld books that a slot was held until now.
func (r *run) bookHeld(a *attempt) {
	if a.tally != nil {
		a.tally.Held(int64(r.now)-int64(r.WarmUp), int64(r.now-a.started))
	}
}

// answer ends an attempt for whoever waits for it: with the primary's answer, or
// with what there is instead.
func (r *run) answer(what int32, a *attempt, why reason.Reason, retryAfter time.Duration) {
	a.answered = true
	switch {
	case a.down != 0:
		r.rungEnds(a, why)
	case why == reason.Served:
		a.class.served(a)
		r.tell(a, report.Primary, why, retryAfter)
	default:
		r.instead(a, why, retryAfter)
	}
	if a.work == none && a.place == outside {
		r.attempts.give(what)
	}
}

// tell tells the caller of an attempt which rung answers and why it is not the
// primary, and lets it decide whether to try again.
func (r *run) tell(a *attempt, rung report.Rung, why reason.Reason, retryAfter time.Duration) {
	r.callers--
	if a.counted {
		a.tally.Done(report.Outcome{
			At: int64(r.now) - int64(r.WarmUp), Latency: int64(r.now-a.arrived) + int64(r.Overhead),
			Rung: rung, Reason: why, Started: a.hasStarted, Calls: a.calls,
			InDeadline: rung == report.Primary && r.now.Add(r.Overhead) <= a.due,
		})
	}
	if r.Record != nil {
		r.show(a, rung, why, retryAfter)
	}
	r.tryAgain(a, rung, why, retryAfter)
}

func (r *run) show(a *attempt, rung report.Rung, why reason.Reason, retryAfter time.Duration) {
	r.record = Record{
		Stream: int(a.stream), Number: a.number, Attempt: int(a.try),
		Class: a.class.name, Tenant: r.Names.Tenants.String(a.tenant), Importance: int(a.level),
		Cost: a.cost, Bytes: a.bytes, Counted: a.counted,
		Scheduled: a.scheduled, Arrived: a.arrived, HasStarted: a.hasStarted, Started: a.started,
		Answered: r.now, Deadline: a.deadline, Rung: r.rungName(a, rung), Reason: why, RetryAfter: retryAfter,
	}
	r.Record(&r.record)
}

func (r *run) rungName(a *attempt, number report.Rung) string {
	if number == report.Primary {
		return ladder.Primary
	}
	for i := range a.class.rungs {
		if a.class.rungs[i].number == number {
			return a.class.order.Name(i)
		}
	}
	return ladder.Refusal
}

// tryAgain lets the caller of an attempt that has ended make another. Whoever has an
// answer, be it a cheaper one, is content with it.
func (r *run) tryAgain(a *attempt, rung report.Rung, why reason.Reason, retryAfter time.Duration) {
	if a.asker != 0 {
		r.hear(a, rung, why, retryAfter)
		return
	}
	st := r.streams[a.stream]
	if st.client != nil {
		return // nobody waits for it any longer
	}
	c := &st.Callers
	counted := r.counts(a.scheduled)
	if rung != report.NoRung {
		if counted {
			st.result.heard(rung)
		}
		return
	}
	next := int(a.try) + 1
	again := next <= c.Retries && c.wants(why)
	var pause time.Duration
	if again {
		jitter := st.jitter.At(uint64(a.number), uint64(next))
		pause = c.Backoff.pause(next, &jitter)
		if c.HonourRetryAfter {
			pause = max(pause, retryAfter)
		}
		again = c.Within == 0 || r.now.Add(pause) < a.scheduled.Add(c.Within)
	}
	if again && !st.budget.take(r.now) {
		again = false
		if counted {
			st.result.Withheld++
		}
	}
	if !again {
		if counted {
			st.result.GaveUp++
		}
		return
	}
	what := r.attempts.take()
	b := r.attempts.at(what)
	b.number, b.scheduled, b.try = a.number, a.scheduled, int32(next)
	b.service, b.allowed, b.cost, b.bytes = a.service, a.allowed, a.cost, a.bytes
	b.class, b.stream, b.tenant, b.level, b.session, b.key = a.class, a.stream, a.tenant, a.level, a.session, a.key
	b.stretch, b.gap = a.stretch, a.gap
	r.callers++
	r.heap.Push(r.now.Add(pause), triesAgain, what, b.life)
}

// check verifies every machine and that it agrees with the run.
func (r *run) check() {
	for _, res := range r.resources {
		if res.machine == nil {
			continue
		}
		if err := res.machine.Check(); err != nil {
			r.fail(fmt.Errorf("resource %q at %v: %w", res.result.Name, r.now, err))
		}
		waiting, held := 0, 0
		for i := range res.machine.Classes() {
			s := res.machine.Class(i)
			waiting += s.Waiting + s.Blocked
			held += s.Used
		}
		if waiting != res.waiting || held != res.held {
			r.fail(fmt.Errorf("resource %q at %v: the machine has %d waiting and %d slots held, the run %d and %d",
				res.result.Name, r.now, waiting, held, res.waiting, res.held))
		}
	}
}

// result closes the accounts.
func (r *run) result() (*Result, error) {
	end := max(r.now, 0)
	if r.end < unit.Never {
		end = r.end
	} else if r.For > 0 {
		end = max(end, r.cutoff)
	}
	r.now = end
	r.closeHeld()
	r.check()
	length := r.For
	if length == 0 {
		length = time.Duration(r.last)
	}
	r.collectShadows()
	out := &Result{Ended: time.Duration(end), Events: r.events}
	out.Report = r.collector.Report(report.About{
		Mode: "virtual", Seed: r.Seed, Seconds: max(0, length-r.WarmUp).Seconds(), Meta: r.Meta,
	})
	r.bookIdle(out.Report)
	for _, res := range r.resources {
		res.count(0, 0)
		if res.machine != nil {
			for i := range res.machine.Classes() {
				res.result.Classes = append(res.result.Classes, res.machine.Class(i))
			}
			if n := res.machine.Bugs(); n > 0 {
				r.fail(fmt.Errorf("resource %q: %d broken invariants", res.result.Name, n))
			}
		}
		out.Resources = append(out.Resources, res.result)
	}
	for _, st := range r.streams {
		out.Callers = append(out.Callers, st.result)
	}
	return out, errors.Join(r.err, out.Report.Check())
}

// closeHeld books slots that are held still, and servers that still work.
func (r *run) closeHeld() {
	r.closing = true
	for _, block := range r.attempts.blocks {
		for i := range block {
			a := &block[i]
			if a.place == running {
				r.bookHeld(a)
			}
			if a.work == served {
				a.class.resource.book(a, a.answered)
			}
		}
	}
}
