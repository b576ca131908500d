package live

import (
	"fmt"
	"net"
	"sync"
	"time"

	"github.com/spillway-dev/spillway/lab/parts"
	"github.com/spillway-dev/spillway/policy/unit"
	"github.com/spillway-dev/spillway/sim/store"
)

// storePart has slots and one line.
type storePart struct {
	parts.Trouble
	draws *store.Draws
	free  bool // nobody waits
	idle  []*slot
	clock parts.Clock

	mu      sync.Mutex
	line    []*held // from head on
	head    int
	records []held
	under   int // in line or in a slot
	over    chan struct{}
}

// slot sleeps the waits of the lookups that hold it, one after the other.
type slot struct {
	alarm *parts.Alarm
	next  chan *held
}

// held is a lookup in the store, and what is told of it.
type held struct {
	N                         int64
	Attempt                   uint16
	Came, Begun, Ended, Limit unit.Instant // Begun -1: it never got a slot
	Stopped                   bool

	reply *link[found, lookup]
	wait  time.Duration
}

// warmWait is what a lookup of the warm-up holds a slot.
const warmWait = 2 * time.Millisecond

// Open implements parts.Part.
func (p *storePart) Open(s spec, _ string) (string, error) {
	r := s.round()
	var err error
	if p.draws, err = r.draws(); err != nil {
		return "", err
	}
	p.free, p.clock = r.flatOut > 0, parts.Clock{Start: time.Now()}
	for range r.Slots {
		a, err := parts.NewAlarm()
		if err != nil {
			return "", err
		}
		one := &slot{a, make(chan *held, 1)}
		p.idle = append(p.idle, one)
		go p.work(one)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	go serve(l, p.listen)
	return l.Addr().String(), nil
}

// Begin implements parts.Part.
func (p *storePart) Begin(c parts.Clock) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.clock = c
}

// End waits until the store is rid of all lookups.
func (p *storePart) End() any {
	over := make(chan struct{})
	p.mu.Lock()
	if p.under == 0 {
		close(over)
	} else {
		p.over = over
	}
	p.mu.Unlock()
	<-over
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.records
}

// listen takes in the lookups of a connection.
func (p *storePart) listen(l *link[found, lookup]) {
	for {
		var q lookup
		if l.receive(&q) != nil {
			return // who asked has gone, and what it asked for runs on
		}
		h := &held{N: q.N, Attempt: q.Attempt, reply: l, Begun: -1, Limit: unit.Never}
		switch {
		case p.free:
		case q.N < 0:
			h.wait = warmWait
		default:
			h.wait, _ = p.draws.Wait(q.N, q.Attempt)
		}
		p.admit(h, q.Left)
	}
}

// admit gives a lookup a slot, or a place in the line.
func (p *storePart) admit(h *held, left int64) {
	if p.free {
		p.answer(h)
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.under++
	h.Came = p.clock.Now()
	if left >= 0 {
		h.Limit = h.Came.Add(time.Duration(left))
	}
	if n := len(p.idle); n > 0 {
		one := p.idle[n-1]
		p.idle = p.idle[:n-1]
		h.Begun = h.Came
		one.next <- h
		return
	}
	if len(p.line)-p.head >= lineMax {
		p.Fail(fmt.Errorf("more than %d lookups in line: lower --rate or --seconds", lineMax))
		return
	}
	p.line = append(p.line, h)
}

// work is a slot's.
func (p *storePart) work(s *slot) {
	for h := range s.next {
		for h != nil {
			end := h.Begun.Add(h.wait)
			if h.Limit < end {
				end, h.Stopped = max(h.Limit, h.Begun), true
			}
			if err := s.alarm.Sleep(end.Sub(p.clockNow())); err != nil {
				p.Fail(err)
				return
			}
			next := p.release(s, h)
			p.answer(h)
			h = next
		}
	}
}

func (p *storePart) clockNow() unit.Instant {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.clock.Now()
}

// release takes a lookup out of its slot, and returns the one that gets it. Where there is
// none the slot is idle.
func (p *storePart) release(s *slot, h *held) *held {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := p.clock.Now()
	p.ended(h, now)
	for p.head < len(p.line) {
		next := p.line[p.head]
		p.line[p.head] = nil
		if p.head++; p.head == len(p.line) {
			p.line, p.head = p.line[:0], 0
		}
		if next.Limit <= now {
			next.Stopped = true
			p.ended(next, next.Limit) // it left the line then, and nobody listens
			continue
		}
		next.Begun = now
		return next
	}
	p.idle = append(p.idle, s)
	return nil
}

// ended keeps what is told of a lookup. The caller holds mu.
func (p *storePart) ended(h *held, at unit.Instant) {
	h.Ended = at
	if h.N >= 0 {
		p.records = append(p.records, *h)
	}
	if p.under--; p.under == 0 && p.over != nil {
		close(p.over)
		p.over = nil // nothing is asked any more
	}
}

func (p *storePart) answer(h *held) {
	f := found{N: h.N, Attempt: h.Attempt, Stopped: h.Stopped}
	if !h.Stopped {
		f.Features = featuresOf(h.N)
	}
	_ = h.reply.send(&f) // who asked may have gone
}
