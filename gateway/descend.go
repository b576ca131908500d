package gateway

import (
	"net/http"
	"time"

	"github.com/spillway-dev/spillway/gate"
	"github.com/spillway-dev/spillway/gateway/rungs"
	"github.com/spillway-dev/spillway/policy/reason"
	"github.com/spillway-dev/spillway/policy/unit"
)

// descent is a request's way down the ladder of its class. What is in memory answers
// at once, by whoever finds it. Another upstream is asked by the handler, once the
// exchange that was not answered is over and its slot free: in a pool of its own
// there, by an exchange of its own, under what is left of the request's deadline.
type descent struct {
	class *class // whose ladder it is
	rungs.Way
	refused gate.Refusal // what the caller is told if nothing answers
	status  int          // that the primary answered with; 0: it did not
	several bool         // the primary was called more than once

	request   gate.Request // as it was offered
	due       time.Time    // when it must be answered, if by another upstream
	named     bool
	secure    bool
	partition string
	body      *kept // what was read of the request's; nil: it has none, or one in memory
}

func (d *descent) left() time.Duration { return time.Until(d.due) }

func (d *descent) ask(r *http.Request) *rungs.Ask {
	return d.class.ladder.ask(r, d.partition, d.secure)
}

// due is when a request that was offered must be answered, as far as its class's
// deadline and what is kept back of it say.
func (c *class) due(ask *gate.Request) time.Time {
	var named unit.Instant
	if ask.Timeout != 0 {
		named = ask.At.Add(ask.Timeout)
	}
	return time.Now().Add(c.rules.Governs(ask.At, named).Sub(c.gate.Now()))
}

// refuseBelow answers a request that was refused before it had a slot, from what is
// below the primary, and reports whether something answered.
func (g *Gateway) refuseBelow(w http.ResponseWriter, r *http.Request, d *descent, refused gate.Refusal) bool {
	d.refused, d.Way = refused, d.class.ladder.Descend(refused.Reason, d.left())
	s, found := d.class.ladder.Seek(d.ask(r), &d.Way, d.left())
	switch found {
	case rungs.Answer:
		g.account(r, d.class, refused)
		g.give(w, r, d.class, &s, d.Step.Rung, 0, d.request.Gap)
	case rungs.Elsewhere:
		g.descend(w, r, d)
	}
	return found != rungs.Nothing
}

// descend answers a request from what is below, beginning at the way's step, or in
// the end with its refusal.
func (g *Gateway) descend(w http.ResponseWriter, r *http.Request, d *descent) {
	for {
		s, found := d.class.ladder.Seek(d.ask(r), &d.Way, d.left())
		switch found {
		case rungs.Answer:
			g.account(r, d.class, d.refused)
			g.give(w, r, d.class, &s, d.Step.Rung, d.status, d.request.Gap)
			return
		case rungs.Nothing:
			if d.several {
				w.Header()[headerShouldRetry] = noRetry
			}
			g.refuse(w, r, d.class, d.refused)
			return
		}
		full, answered := g.askElsewhere(w, r, d)
		switch {
		case answered:
			return
		case full:
			d.Step = d.Full(d.left())
		default:
			d.Step = d.Missed(d.left())
		}
	}
}

// askElsewhere asks the upstream of the way's step. It reports whether that has no
// room, and whether it has answered.
func (g *Gateway) askElsewhere(w http.ResponseWriter, r *http.Request, d *descent) (full, answered bool) {
	c, left := d.class.ladder.asks[d.Step.Rung], d.left()
	if r = d.body.again(r); left <= 0 || r == nil {
		return false, false
	}
	due := new(overdue)
	ask := d.request
	ask.Class, ask.Timeout, ask.OnOverdue, ask.At = c.index, left, due.tell, c.gate.Now()
	permit, refused := c.gate.Enter(r.Context(), ask)
	switch refused.Reason {
	case reason.None:
	case reason.CallerGone:
		panic(http.ErrAbortHandler)
	default:
		return refused.Reason.AtAdmission(), false
	}
	granted := permit.Granted()
	c.seen.Wait.Observe(granted.Sub(ask.At))
	x := &exchange{
		gateway: g, class: c, w: w, in: r, permit: permit, overdue: due,
		offered: ask.At, granted: granted, named: d.named,
		mine: true, outcome: reason.Failed,
		secure: d.secure, partition: d.partition, step: d,
	}
	if unread(r) {
		http.NewResponseController(w).EnableFullDuplex()
	}
	x.serve()
	if !x.missed {
		g.account(r, d.class, d.refused)
	}
	return false, !x.missed
}

// below has what could not be served answered from what is below: at once if that is
// in memory, else by the handler, when the exchange is over. It reports whether that
// is so. A step of a way down leaves the next to its handler.
func (x *exchange) below(refused gate.Refusal) bool {
	if x.step != nil {
		x.missed = true
		return true
	}
	if x.class.ladder == nil {
		return false
	}
	s, way, found := x.seek(refused.Reason)
	switch found {
	case rungs.Answer:
		x.gateway.account(x.in, x.class, refused)
		x.gateway.give(x.w, x.in, x.class, &s, way.Step.Rung, 0, x.gap)
	case rungs.Elsewhere:
		x.goOn(way, refused, 0)
	}
	return found != rungs.Nothing
}

// seek looks for what there is below the primary.
func (x *exchange) seek(why reason.Reason) (s rungs.Standin, way rungs.Way, found rungs.Found) {
	left := x.left()
	way = x.class.ladder.Descend(why, left)
	s, found = x.class.ladder.Seek(x.asked(), &way, left)
	return s, way, found
}

// goOn leaves the way down to the handler.
func (x *exchange) goOn(way rungs.Way, refused gate.Refusal, status int) {
	x.after = &descent{Way: way, refused: refused, status: status, several: x.several, due: time.Now().Add(x.left())}
}

// left is what is left of the request's time, for another upstream.
func (x *exchange) left() time.Duration {
	if !x.permit.Governed() {
		return 0
	}
	return x.permit.Remaining()
}

// missedError carries an error that another upstream answered with past the proxy:
// it stands in for nothing.
type missedError struct{}

func (missedError) Error() string { return "a stand-in is an error" }

// said takes in that the way's step has answered, and returns the reason that its
// answer bears.
func (d *descent) said(g *Gateway, r *http.Request) []string {
	g.answeredBy(r, d.class, d.Step.Rung, d.request.Gap, d.Step.Reason)
	d.class.ladder.seen[d.Step.Rung].Answered(d.Step.Reason)
	return []string{d.Step.Reason.String()}
}

// rung is the rung that an exchange answers for.
func (x *exchange) rung() []string {
	if x.step != nil {
		return []string{x.step.Step.Name}
	}
	return rungPrimary
}
