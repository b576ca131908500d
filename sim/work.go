package sim

import (
	"fmt"
	"time"

	"github.com/spillway-dev/spillway/policy/reason"
	"github.com/spillway-dev/spillway/policy/spread"
)

// send hands an attempt's call to the upstream.
// It goes to another copy than beside, where there is one.
func (res *resource) send(what int32, a *attempt, beside spread.Copy) {
	u := &res.upstream
	u.take(res.run.now, a, beside)
	c := &u.copies[a.copy]
	if c.free() {
		res.serve(what, a)
		return
	}
	a.work = inLine
	c.line.Push(place{What: what, Life: a.life})
	u.inLine++
	res.result.LineMost = max(res.result.LineMost, u.inLine)
}

// serve begins the work.
func (res *resource) serve(what int32, a *attempt) {
	r, u := res.run, &res.upstream
	service := a.service
	if law := a.class.service; !law.Traced() {
		luck := r.streams[a.stream].luck.At(uint64(a.number), a.die())
		service = law.Draw(&luck)
	}
	if service <= 0 {
		r.fail(fmt.Errorf("request %d of stream %d has no service time; give upstream of %q one", a.number, a.stream, res.result.Name))
		return
	}
	service = u.strained(service)
	u.copies[a.copy].busy++
	a.work, a.begun = served, r.now
	at, failing := u.ends(r.now, service, a.copy)
	if !res.provides(a) {
		at, failing = r.now, true
	}
	a.failing = failing
	if r.Unprotected {
		r.startStraight(a)
	}
	r.heap.Push(at, workEnds, what, a.life)
}

// serveNext lets those in a copy's line have the servers that are free.
func (res *resource) serveNext(copy spread.Copy) {
	u := &res.upstream
	for c := &u.copies[copy]; c.line.Len() > 0 && c.free(); {
		p := c.line.Pop()
		a := res.run.attempts.at(p.What)
		if a.life == p.Life && a.work == inLine {
			u.inLine--
			res.serve(p.What, a)
		}
	}
}

// stop ends work early whose caller is gone. Its slot is given back by an event
// of this instant, since the machine may be amid another.
func (res *resource) stop(what int32, a *attempt, why reason.Reason) {
	if res.halt(a, why) {
		res.run.heap.Push(res.run.now, workEnds, what, a.life)
	}
}

// halt takes work out of the line or off its server, and reports whether there
// was any.
func (res *resource) halt(a *attempt, why reason.Reason) bool {
	switch a.work {
	case inLine:
		res.upstream.inLine--
		res.leaves(a)
	case served:
		res.book(a, true)
		res.upstream.copies[a.copy].busy--
		res.leaves(a)
		res.serveNext(a.copy)
	default:
		return false
	}
	res.result.Stopped++
	a.work, a.why = stopped, why
	return true
}

// book enters the time that a server has worked.
func (res *resource) book(a *attempt, wasted bool) {
	d := time.Duration(res.run.now - a.begun)
	res.result.Busy += d
	if wasted {
		res.result.Wasted += d
	}
	if show := res.run.Work; show != nil {
		show(&Work{
			Stream: int(a.stream), Number: a.number, Attempt: int(a.try), Resource: res.result.Name, Copy: int(a.copy),
			Begun: a.begun, Ended: res.run.now, Wasted: wasted, Unfinished: res.run.closing,
		})
	}
}

// bookEnd enters work that has ended by itself.
func (res *resource) bookEnd(a *attempt, why reason.Reason) {
	if why == reason.Failed {
		res.result.Failed++
	} else {
		res.result.Served++
	}
	res.book(a, a.answered)
}
