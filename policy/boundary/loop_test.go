package boundary

import (
	"container/heap"
	"time"

	"github.com/spillway-dev/spillway/policy/reason"
	"github.com/spillway-dev/spillway/policy/unit"
)

// loop is a tiny driver in virtual time: happenings in order, and the effects
// of each carried out at once. Work takes as long as its caller said when it
// offered it.
type loop struct {
	machine *Machine
	now     unit.Instant
	queue   happenings
	seq     int
	out     Effects
	calls   map[Ticket]*call

	running, runningMax int           // work that goes on, abandoned or not
	expiredWork         time.Duration // work on requests that had been answered
	work                time.Duration
}

type call struct {
	request  Request
	service  time.Duration
	offered  unit.Instant
	answered bool
	// answer is told when the caller has its answer: at the end of the work, or
	// when it is refused.
	answer func(c *call, why reason.Reason, retryAfter time.Duration)
}

type happening struct {
	at  unit.Instant
	seq int
	do  func()
}

type happenings []happening

func (h happenings) Len() int      { return len(h) }
func (h happenings) Swap(i, j int) { h[i], h[j] = h[j], h[i] }
func (h happenings) Less(i, j int) bool {
	return h[i].at < h[j].at || h[i].at == h[j].at && h[i].seq < h[j].seq
}
func (h *happenings) Push(x any) { *h = append(*h, x.(happening)) }
func (h *happenings) Pop() any {
	last := (*h)[len(*h)-1]
	*h = (*h)[:len(*h)-1]
	return last
}

func newLoop(cfg Config) *loop {
	cfg.Strict = true
	return &loop{machine: must(New(cfg)), calls: map[Ticket]*call{}}
}

// at has something happen at an instant.
func (l *loop) at(at unit.Instant, do func()) {
	l.seq++
	heap.Push(&l.queue, happening{max(at, l.now), l.seq, do})
}

// run lets happen what happens until the end.
func (l *loop) run(end time.Duration) {
	for {
		next := l.machine.Next()
		if len(l.queue) > 0 && l.queue[0].at < next {
			next = l.queue[0].at
		}
		if next > unit.Instant(end) {
			l.now = unit.Instant(end)
			return
		}
		l.now = next
		if len(l.queue) > 0 && l.queue[0].at == next {
			heap.Pop(&l.queue).(happening).do()
		} else {
			l.machine.Advance(l.now, &l.out)
		}
		l.carryOut()
	}
}

func (l *loop) offer(c *call) {
	c.offered, c.answered = l.now, false
	v := l.machine.Offer(l.now, &c.request, &l.out)
	switch v.Kind {
	case Refuse:
		l.reply(c, v.Reason, v.RetryAfter)
	case Wait:
		l.calls[v.Ticket] = c
	case Run:
		l.calls[v.Ticket] = c
		l.start(v.Ticket, c)
	}
}

func (l *loop) carryOut() {
	for i := 0; i < len(l.out.List); i++ {
		e := l.out.List[i]
		c := l.calls[e.Ticket]
		switch e.Kind {
		case Run:
			l.start(e.Ticket, c)
		case Refuse:
			delete(l.calls, e.Ticket)
			l.reply(c, e.Reason, e.RetryAfter)
		case Overdue:
			l.reply(c, e.Reason, e.RetryAfter)
		case Released:
			delete(l.calls, e.Ticket)
		}
	}
	l.out.Reset()
}

func (l *loop) start(t Ticket, c *call) {
	l.running++
	l.runningMax = max(l.runningMax, l.running)
	begun, offered := l.now, c.offered
	l.at(l.now.Add(c.service), func() {
		l.running--
		l.work += c.service
		late := c.answered || c.offered != offered
		if late {
			l.expiredWork += l.now.Sub(begun)
		}
		if l.calls[t] != nil {
			delete(l.calls, t)
			// What was due at this instant happens first: a call that ends with
			// its deadline is late.
			l.machine.Done(l.now, t, Outcome{Reason: reason.Served}, &l.out)
			for _, e := range l.out.List {
				late = late || e.Kind == Overdue && e.Ticket == t
			}
		}
		if !late {
			l.reply(c, reason.Served, 0)
		}
	})
}

func (l *loop) reply(c *call, why reason.Reason, retryAfter time.Duration) {
	if c == nil || c.answered {
		return
	}
	c.answered = true
	if c.answer != nil {
		// The answer is a happening of its own: the caller may offer again.
		l.at(l.now, func() { c.answer(c, why, retryAfter) })
	}
}
