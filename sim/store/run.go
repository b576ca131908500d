package store

import (
	"fmt"
	"time"

	"github.com/spillway-dev/spillway/policy/call"
	"github.com/spillway-dev/spillway/policy/reason"
	"github.com/spillway-dev/spillway/policy/spread"
	"github.com/spillway-dev/spillway/policy/unit"
)

// Sums is the account of a round.
type Sums struct {
	Requests, Lookups int64
	MaxWaiting        int // in the lines of all copies
}

// Run is a round in play.
type Run struct {
	*Scenario
	dependency *call.Dependency
	now        unit.Instant
	heap       heap
	watch      Watch

	arrivals []time.Duration
	arrived  int64
	queue    int64 // the next request that waits for a sender; arrived: none
	idle     []int32
	senders  []sender

	lookups []lookup
	unused  []int32
	copies  []replica
	spread  *spread.Spread // nil for a single copy
	waiting int
	sums    Sums
	done    int64
	lost    int64 // lookups that have not ended yet
}

// sender carries one request at a time.
type sender struct {
	Request
	call  call.Call
	life  uint32
	timer uint32
	next  unit.Instant // of the timer
	copy  spread.Copy  // of the latest attempt
	// firstWait is drawn whether or not a first attempt is made.
	firstWait time.Duration
	flying    [2]flight // of the latest try
}

type flight struct {
	attempt uint16 // 0: none
	lookup  int32
	sent    unit.Instant
	slot    unit.Instant // -1: not yet
}

// New prepares a round, or says what is wrong with the scenario.
func New(s Scenario) (*Run, error) {
	if err := s.Validate(); err != nil {
		return nil, fmt.Errorf("store: %w", err)
	}
	d, err := call.New(s.Policy)
	if err != nil {
		return nil, fmt.Errorf("store: %w", err)
	}
	r := &Run{Scenario: &s, dependency: d, arrivals: s.Draws.Arrivals(s.Rate, s.For), senders: make([]sender, s.Senders)}
	for i := range s.Senders {
		r.idle = append(r.idle, int32(s.Senders-1-i))
	}
	return r, r.openCopies()
}

// Play plays the round to the end of the last lookup and returns its account, or
// an error where it does not close.
func (r *Run) Play(w Watch) (Sums, error) {
	r.watch = w
	r.expect()
	for r.heap.Len() > 0 {
		e := r.heap.Pop()
		r.now = e.At
		switch e.Kind() {
		case ends:
			r.ended(e, Used)
		case stops:
			r.ended(e, Stopped)
		case turned:
			r.ended(e, Turned)
		case passes:
			if s := &r.senders[e.What]; s.timer == e.Life {
				s.next = unit.Never
				r.follow(e.What, *r.dependency.Passed(r.now, &s.call))
			}
		case comesFree:
			r.free(e.What)
		case arrives:
			r.arrive()
		case wakes:
			r.woken(e)
		}
	}
	r.sums.Requests = r.arrived
	if r.done != r.arrived || r.lost != 0 || r.waiting != 0 {
		return r.sums, fmt.Errorf("store: %d requests offered, %d answered; %d lookups have not ended, %d wait", r.arrived, r.done, r.lost, r.waiting)
	}
	return r.sums, nil
}

// expect puts the next arrival on the heap.
func (r *Run) expect() {
	if int(r.arrived) < len(r.arrivals) {
		r.heap.Push(unit.Instant(r.arrivals[r.arrived]), arrives, 0, 0)
	}
}

func (r *Run) arrive() {
	r.arrived++
	r.expect()
	if n := len(r.idle); n > 0 {
		i := r.idle[n-1]
		r.idle = r.idle[:n-1]
		r.begin(i)
	}
}

// free has a sender take the request that has waited longest for one.
func (r *Run) free(i int32) {
	if r.queue < r.arrived {
		r.begin(i)
		return
	}
	r.idle = append(r.idle, i)
}

// begin has a sender make the next request.
func (r *Run) begin(i int32) {
	s := &r.senders[i]
	n := r.queue
	r.queue++
	at := unit.Instant(r.arrivals[n])
	s.life++
	s.Request = Request{N: n, Scheduled: at, Begun: r.now, Sent: r.now, Slot: -1, Deadline: unit.Never}
	s.flying, s.copy, s.next = [2]flight{}, spread.None, unit.Never
	if r.Scenario.Deadline > 0 {
		s.Deadline = at.Add(r.Scenario.Deadline)
	}
	s.firstWait, s.FirstFrozen = r.Draws.Wait(n, 1)
	r.follow(i, *r.dependency.Begin(r.now, &s.call, call.Request{Deadline: s.Deadline, Idempotent: true, Dice: r.Draws.Dice(n)}))
}

// follow does what a step says.
func (r *Run) follow(i int32, step call.Step) {
	s := &r.senders[i]
	for _, n := range step.Cancel {
		if n != 0 {
			r.cut(s, n, step.Do != call.Answer)
		}
	}
	switch step.Do {
	case call.Send:
		r.send(i, step)
		r.dependency.Sent(r.now, &s.call, step.Attempt)
	case call.Answer:
		s.Deciding = step.Attempt
		r.answer(i, reason.Served)
		return
	case call.GiveUp:
		if s.flying[0].attempt != 0 {
			s.Deciding = s.flying[0].attempt
		}
		r.answer(i, step.Reason)
		return
	}
	if step.Next != s.next {
		s.timer++
		if s.next = step.Next; s.next != unit.Never {
			r.heap.Push(s.next, passes, i, s.timer)
		}
	}
}

// cut stops listening to an attempt. The store is not told.
func (r *Run) cut(s *sender, attempt uint16, limit bool) {
	for i := range s.flying {
		f := &s.flying[i]
		if f.attempt != attempt {
			continue
		}
		if l := &r.lookups[f.lookup]; l.N == s.N && l.Attempt == attempt && l.place != nowhere {
			l.listened = false
			if limit {
				r.late(s, l)
			} else {
				r.judge(l, spread.Nothing) // the loser of a hedge was not given its time
			}
		}
	}
}

// late marks an attempt whose limit has come.
func (r *Run) late(s *sender, l *lookup) {
	l.Cut = true
	if !l.Frozen {
		s.CutUnfrozen = true
	}
	r.judge(l, spread.Late)
}

// answer ends a request.
func (r *Run) answer(i int32, why reason.Reason) {
	s := &r.senders[i]
	s.timer++
	s.Reason, s.Decided, s.Answered = why, r.now, r.now.Add(r.Rest)
	s.Attempts = s.call.Attempts()
	for _, f := range s.flying {
		if f.attempt != 0 && f.attempt == s.Deciding {
			s.Sent, s.Slot = f.sent, f.slot
		}
	}
	r.done++
	if r.watch.Request != nil {
		r.watch.Request(&s.Request)
	}
	r.heap.Push(s.Answered, comesFree, i, 0)
}
