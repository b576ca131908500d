package lab

import (
	"github.com/spillway-dev/spillway/policy/reason"
	"github.com/spillway-dev/spillway/policy/unit"
	"github.com/spillway-dev/spillway/sim/store"
)

// Asked keeps a request of a service that asks a dependency, kind q: stream is
// the round, attempt the one that decided (0: none), class served, error or
// stand_in, cost the attempts made; arrived is when a sender took it, started
// when the service knew what to answer, ended when the answer was there. Flag 1:
// the first attempt's drawn wait freezes.
func (a *Arm) Asked(round int, q *store.Request, answer string) {
	if a == nil {
		return
	}
	flag := int64(0)
	if q.FirstFrozen {
		flag = 1
	}
	a.row("q", int64(round), q.N, int64(q.Deciding), answer, "", 0, int64(q.Attempts), 0,
		q.Scheduled, q.Begun, q.Decided, q.Answered, known(q.Deadline), q.Reason, 0, flag)
}

// Lookup keeps an attempt at the dependency, kind l: stream is the round, class
// what became of it, importance the copy, cost the drawn wait in ns; arrived is
// when it was sent, started when it got a slot, ended when it left slot or line,
// deadline its limit. Flag 1: the drawn wait freezes; 2: it is a hedge; 4: the
// service stopped listening to it when its limit came.
func (a *Arm) Lookup(round int, l *store.Lookup) {
	if a == nil {
		return
	}
	flag := int64(0)
	if l.Frozen {
		flag |= 1
	}
	if l.Hedge {
		flag |= 2
	}
	if l.Cut {
		flag |= 4
	}
	a.row("l", int64(round), l.N, int64(l.Attempt), l.Fate.String(), "", int64(l.Copy), int64(l.Drawn), 0,
		-1, l.Sent, l.Begun, l.Ended, known(l.Limit), reason.None, 0, flag)
}

func known(t unit.Instant) unit.Instant {
	if t == unit.Never {
		return -1
	}
	return t
}
