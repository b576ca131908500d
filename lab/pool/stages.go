package pool

import (
	"container/heap"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/spillway-dev/spillway/lab"
	"github.com/spillway-dev/spillway/policy/boundary"
	"github.com/spillway-dev/spillway/policy/pool"
	"github.com/spillway-dev/spillway/policy/reason"
	"github.com/spillway-dev/spillway/policy/unit"
	"github.com/spillway-dev/spillway/report"
	"github.com/spillway-dev/spillway/sim"
	"github.com/spillway-dev/spillway/workload"
)

// Package sim ends a request where its work ends. Here the end of a stage's
// work is an offer to the next stage, and its worker is held up, with the task
// in its hands, until the next room has taken it: which is what blocking is.
// So three machines are driven here, by the rules of package sim: ends before
// arrivals, the machine up to date before each.

// row is stages in a row, and the tasks in them.
type row struct {
	s       Setting
	stages  []*stage
	events  happenings
	made    int64
	now     unit.Instant
	traffic *report.Collector
	tally   *report.Tally
	keep    *lab.Arm
	follow  *follower
}

// stage is a machine with its workers.
type stage struct {
	Stage
	index     int
	machine   *boundary.Machine
	out       boundary.Effects
	byTicket  map[boundary.Ticket]*task
	blocked   []*task // before its room, the longest first
	result    StageResult
	worked    int64 // ns
	heldUp    int64 // ns, done but blocked by the next stage
	blockedNs int64
}

// task is one on its way.
type task struct {
	number                     int64
	arrived                    unit.Instant // at the first stage
	offered, started, finished unit.Instant // at this stage
	blockedFrom                unit.Instant
	at                         int             // stage
	ticket                     boundary.Ticket // of this stage
	behind                     boundary.Ticket // of the stage before, whose worker holds it still
	hasStarted                 bool            // at the first stage
	firstStart                 unit.Instant
}

// happening is the end of a stage's work.
type happening struct {
	at   unit.Instant
	seq  int64
	task *task
}

type happenings []happening

func (h happenings) Len() int { return len(h) }
func (h happenings) Less(i, j int) bool {
	return h[i].at < h[j].at || h[i].at == h[j].at && h[i].seq < h[j].seq
}
func (h happenings) Swap(i, j int) { h[i], h[j] = h[j], h[i] }
func (h *happenings) Push(x any)   { *h = append(*h, x.(happening)) }
func (h *happenings) Pop() any {
	last := (*h)[len(*h)-1]
	*h = (*h)[:len(*h)-1]
	return last
}

func (s Setting) playStages(seed uint64, meta report.Meta, keep *lab.Arm) (*played, error) {
	length := time.Duration(s.Seconds * float64(time.Second))
	r := &row{s: s, keep: keep, follow: newFollower(s), traffic: report.NewCollector(report.Options{For: length})}
	for i, cfg := range s.Stages {
		m, err := boundary.New(boundary.Config{Name: cfg.Name, Seed: seed, Strict: true, Classes: []boundary.Class{{
			Name: cfg.Name, AdmitHopeless: true,
			Pool: pool.Config{Slots: cfg.Slots, Bound: cfg.Bound, Service: ms(cfg.ServiceMs), Order: pool.FIFO,
				WhenFull: pool.Block, BlockFor: ms(cfg.BlockMs)},
		}}})
		if err != nil {
			return nil, err
		}
		r.stages = append(r.stages, &stage{Stage: cfg, index: i, machine: m, byTicket: map[boundary.Ticket]*task{},
			result: StageResult{Name: cfg.Name, Reasons: report.Counts{}}})
	}
	class := r.traffic.Class(s.Stages[0].Name)
	narrowest := slices.MinFunc(s.Stages, func(a, b Stage) int { return int(a.perS() - b.perS()) })
	class.Capacity(0, narrowest.perS())
	r.tally = r.traffic.Tally(s.Stages[0].Name, "")
	names := workload.NewNames()
	source, err := s.Streams[0].source(seed, length, names)
	if err != nil {
		return nil, err
	}
	r.play(source)
	rep := r.traffic.Report(report.About{Mode: "virtual", Seed: seed, Seconds: s.Seconds, Meta: meta})
	if err := errors.Join(rep.Check(), r.check()); err != nil {
		return nil, fmt.Errorf("%w: %w", lab.ErrSums, err)
	}
	return &played{Result: r.result(rep), traffic: rep}, nil
}

func (st Stage) perS() float64 { return float64(st.Slots) / ms(st.ServiceMs).Seconds() }

// play runs until every task is through or turned away.
func (r *row) play(source workload.Source) {
	var next workload.Arrival
	more := source.Next(&next)
	for {
		at, what := unit.Never, -1 // -1: an arrival, -2: an end, else a stage that wakes
		if len(r.events) > 0 {
			at, what = r.events[0].at, -2
		}
		if more && unit.Instant(next.At) < at {
			at, what = unit.Instant(next.At), -1
		}
		for i, st := range r.stages {
			if due := max(st.machine.Next(), r.now); due < at {
				at, what = due, i
			}
		}
		if at == unit.Never {
			return
		}
		r.now = at
		switch what {
		case -1:
			t := &task{number: next.N, arrived: at}
			r.tally.Offered(int64(at))
			more = source.Next(&next)
			r.offer(t, r.stages[0])
		case -2:
			r.finish(heap.Pop(&r.events).(happening).task)
		default:
			st := r.stages[what]
			st.out.Reset()
			st.machine.Advance(at, &st.out)
			r.carryOut(st)
		}
	}
}

// offer hands a task to a stage. The worker that holds it stays held until the
// stage's room has it.
func (r *row) offer(t *task, st *stage) {
	t.at, t.offered = st.index, r.now
	st.result.Offered++
	st.out.Reset()
	before := st.machine.Class(0).Blocked
	v := st.machine.Offer(r.now, &boundary.Request{}, &st.out)
	switch v.Kind {
	case boundary.Refuse:
		r.carryOut(st)
		r.turnAway(t, st, v.Reason)
		return
	case boundary.Run:
		t.ticket = v.Ticket
		st.byTicket[v.Ticket] = t
		r.handOver(t)
		r.start(t, st)
	case boundary.Wait:
		t.ticket = v.Ticket
		st.byTicket[v.Ticket] = t
		if st.machine.Class(0).Blocked > before {
			t.blockedFrom = r.now
			st.blocked = append(st.blocked, t)
			st.result.Blocked++
		} else {
			r.handOver(t)
		}
	}
	r.carryOut(st)
}

// carryOut does what an event at a stage brought about.
func (r *row) carryOut(st *stage) {
	effects := slices.Clone(st.out.List)
	for _, f := range effects {
		if f.Kind != boundary.Refuse {
			continue
		}
		t := st.byTicket[f.Ticket]
		delete(st.byTicket, f.Ticket)
		if i := slices.Index(st.blocked, t); i >= 0 {
			r.unblock(t, st, i)
		}
		r.turnAway(t, st, f.Reason)
	}
	// The room takes in those who were blocked longest, and says so only by
	// their number.
	for n := st.machine.Class(0).Blocked; len(st.blocked) > n; {
		t := st.blocked[0]
		r.unblock(t, st, 0)
		r.handOver(t)
	}
	for _, f := range effects {
		if f.Kind == boundary.Run {
			r.start(st.byTicket[f.Ticket], st)
		}
	}
}

func (r *row) unblock(t *task, st *stage, i int) {
	st.blocked = slices.Delete(st.blocked, i, i+1)
	d := int64(r.now - t.blockedFrom)
	st.blockedNs += d
	r.keep.Blocked(st.Name, t.number, t.blockedFrom, r.now)
}

// start begins a stage's work.
func (r *row) start(t *task, st *stage) {
	t.started = r.now
	if !t.hasStarted {
		t.hasStarted, t.firstStart = true, r.now
		r.tally.Started(int64(r.now), int64(r.now-t.arrived))
	}
	r.made++
	heap.Push(&r.events, happening{r.now.Add(ms(st.ServiceMs)), r.made, t})
}

// finish ends a stage's work: the task goes on to the next, or is done.
func (r *row) finish(t *task) {
	st := r.stages[t.at]
	t.finished = r.now
	st.worked += r.inWindow(t.started)
	r.keep.Work(&sim.Work{Number: t.number, Attempt: st.index, Resource: st.Name, Begun: t.started, Ended: r.now})
	r.passed(t, st, reason.Served)
	t.behind = t.ticket
	if st.index+1 < len(r.stages) {
		r.offer(t, r.stages[st.index+1])
		return
	}
	r.handBack(st, t.behind, t.finished)
	r.done(t, reason.Served)
}

// inWindow is how much of the time from an instant until now lies in the
// offered load's.
func (r *row) inWindow(from unit.Instant) int64 {
	end := unit.Instant(r.s.Seconds * float64(time.Second))
	return max(0, int64(min(r.now, end)-from))
}

// handOver frees the worker of the stage before.
func (r *row) handOver(t *task) {
	if t.at > 0 {
		r.handBack(r.stages[t.at-1], t.behind, t.finished)
	}
}

func (r *row) handBack(st *stage, ticket boundary.Ticket, finished unit.Instant) {
	st.heldUp += r.inWindow(finished)
	delete(st.byTicket, ticket)
	st.out.Reset()
	st.machine.Done(r.now, ticket, boundary.Outcome{Reason: reason.Served}, &st.out)
	r.carryOut(st)
}

// turnAway ends a task that a stage would not take.
func (r *row) turnAway(t *task, st *stage, why reason.Reason) {
	t.started = -1
	t.finished = max(t.finished, 0)
	r.passed(t, st, why)
	r.handOver(t)
	r.done(t, why)
}

// passed keeps a task's record at a stage.
func (r *row) passed(t *task, st *stage, why reason.Reason) {
	st.result.Reasons[why.String()]++
	r.keep.Record(&sim.Record{
		Stream: st.index, Number: t.number, Class: st.Name, Counted: true,
		Scheduled: t.arrived, Arrived: t.offered, HasStarted: t.started >= 0 && why == reason.Served, Started: t.started,
		Answered: r.now, Deadline: t.offered.Add(boundary.DeadlineDefault), Reason: why,
	})
}

// done ends a task for its producer.
func (r *row) done(t *task, why reason.Reason) {
	o := report.Outcome{At: int64(r.now), Latency: int64(r.now - t.arrived), Rung: report.NoRung, Reason: why, Started: t.hasStarted}
	if why == reason.Served {
		o.Rung = report.Primary
		o.InDeadline = true
	}
	if t.hasStarted {
		o.Calls = 1
	}
	r.tally.Done(o)
	f := r.follow
	f.callers++
	f.attempts++
	if t.hasStarted {
		f.calls[who{0, t.number}]++
		f.allCalls++
	}
	if why != reason.Served {
		f.turned = min(f.turned, r.now)
		return
	}
	f.answered++
	if r.now.Sub(t.arrived) <= ms(r.s.BudgetMs) {
		f.inBudget++
	}
}

func (r *row) result(rep *report.Report) *Result {
	out := r.follow.result(&sim.Result{Report: rep, Resources: []sim.ResourceResult{{}}})
	none := report.None()
	out.UsefulWorkShare, out.QueueWaitTotalMs, out.WorkTotalMs, out.PeakQueue = none, none, none, none
	for _, st := range r.stages {
		slotNs := int64(float64(st.Slots) * r.s.Seconds * 1e9)
		st.result.Utilisation = report.Share(st.worked, slotNs)
		st.result.BlockedShare = report.Share(st.heldUp, slotNs)
		st.result.BlockedTotalMs = report.Ms(st.blockedNs)
		out.Bounds[st.Name] = int64(st.Bound)
		out.Stages = append(out.Stages, st.result)
	}
	return out
}

// check returns what is left, or does not add up, when all is over.
func (r *row) check() error {
	for _, st := range r.stages {
		if err := st.machine.Check(); err != nil {
			return err
		}
		if n := len(st.byTicket); n > 0 {
			return fmt.Errorf("stage %s: %d tasks are left", st.Name, n)
		}
	}
	return nil
}
