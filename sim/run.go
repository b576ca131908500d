package sim

import (
	"errors"
	"fmt"
	"time"

	"github.com/spillway-dev/spillway/policy/boundary"
	"github.com/spillway-dev/spillway/policy/call"
	"github.com/spillway-dev/spillway/policy/ladder"
	"github.com/spillway-dev/spillway/policy/shed"
	"github.com/spillway-dev/spillway/policy/unit"
	"github.com/spillway-dev/spillway/report"
	"github.com/spillway-dev/spillway/workload"
	"github.com/spillway-dev/spillway/workload/dice"
)

// run is a scenario in play.
type run struct {
	*Scenario
	heap      heap // of all but first attempts
	arrivals  heap // of the next one of each stream: seldom more than a few
	attempts  arena
	callings  callings
	clients   callings
	descents  descents
	store     store
	resources []*resource
	machines  []*boundary.Machine
	classes   []*class
	byName    map[string]*class
	routes    []*class // by workload.Name of the class, filled in as they are met
	streams   []*stream
	collector *report.Collector

	now      unit.Instant
	last     unit.Instant // of the latest first attempt
	end      unit.Instant // Until, or Never
	cutoff   unit.Instant // For, or Never
	callers  int64        // attempts not answered, and callers who will try again
	events   int64
	record   Record
	idleMark unit.Instant // when idle slots are read next

	closing bool // the run has ended, its accounts are being closed
	err     error
}

// class is a class of some resource.
type class struct {
	name     string
	index    int // in its machine
	resource *resource
	call     Call
	cfg      boundary.Class
	// What its calls share; nil without a call policy.
	dependency *call.Dependency
	tallies    []*report.Tally // by tenant
	idle       idleSums

	order   ladder.Ladder
	rungs   []rung
	asked   int32            // as which rung of another class, from 1; 0: it is a class of the report
	service workload.Service // of its requests
}

// stream is a source with its callers.
type stream struct {
	*Stream
	class  *class // of those who name none
	next   workload.Arrival
	budget bucket
	luck   *dice.Dice // of service times
	jitter *dice.Dice
	calls  *dice.Dice       // of call policies
	client *call.Dependency // what its callers share; nil where they use no library
	result CallersResult
}

// progressEvery events the caller of Run hears of progress: about 25 ms.
const progressEvery = 1 << 16

// Run plays the scenario. progress, if not nil, is told from time to time how
// much of the offered load has been played, in virtual time; total is zero
// where it is not known. The error says what is wrong with the scenario, why a
// source ended early, or which account did not close.
func Run(s Scenario, progress func(done, total time.Duration)) (*Result, error) {
	if err := s.Validate(); err != nil {
		return nil, err
	}
	r, err := newRun(&s)
	if err != nil {
		return nil, err
	}
	r.beginIdle()
	r.play(progress)
	if r.err != nil {
		return nil, r.err
	}
	return r.result()
}

func newRun(s *Scenario) (*run, error) {
	r := &run{Scenario: s, byName: map[string]*class{}, end: unit.Never, cutoff: unit.Never}
	if s.Until > 0 {
		r.end = unit.Instant(s.Until)
	}
	options := s.Report
	if s.For > 0 {
		r.cutoff = unit.Instant(s.For)
		options.For = s.For - s.WarmUp
	}
	r.collector = report.NewCollector(options)
	asked := s.onlyAsked()
	for i := range s.Resources {
		if err := r.openResource(&s.Resources[i], asked); err != nil {
			return nil, err
		}
	}
	r.openLadders()
	for i := range s.Streams {
		r.openStream(i, &s.Streams[i])
	}
	for i, c := range s.Changes {
		if !s.Unprotected {
			r.heap.Push(unit.Instant(c.At), changes, int32(i), 0)
		}
	}
	if s.Sample != nil {
		r.heap.Push(0, samples, 0, 0)
	}
	return r, nil
}

func (r *run) openStream(i int, s *Stream) {
	st := &stream{
		Stream: s, class: r.classes[0], budget: newBucket(s.Callers.Budget),
		luck:   dice.New(r.Seed, fmt.Sprintf("sim/service/%d", i)),
		jitter: dice.New(r.Seed, fmt.Sprintf("sim/pauses/%d", i)),
		calls:  dice.New(r.Seed, fmt.Sprintf("sim/calls/%d", i)),
	}
	if s.Class != "" {
		st.class = r.byName[s.Class]
	}
	var err error
	if st.client, err = dependencyOf(s.Callers.Library, r.Seed^uint64(i+1)); err != nil {
		r.fail(fmt.Errorf("stream %d: %w", i, err))
	}
	r.streams = append(r.streams, st)
	r.await(i)
}

// await puts the stream's next arrival on the heap.
func (r *run) await(i int) {
	st := r.streams[i]
	if !st.Source.Next(&st.next) || unit.Instant(st.next.At) >= r.cutoff {
		if err := workload.Err(st.Source); err != nil {
			r.fail(fmt.Errorf("stream %d: %w", i, err))
		}
		return
	}
	r.callers++
	r.arrivals.Put(unit.Instant(st.next.At), arrives, uint64(i), int32(i))
}

// fail ends the run with an error.
func (r *run) fail(err error) {
	r.err = errors.Join(r.err, err)
	r.end = -1
}

// play plays events until there is nobody left to answer, or the end.
func (r *run) play(progress func(done, total time.Duration)) {
	for {
		at, k, what := r.nextEvent()
		if at > r.end || at == unit.Never || r.callers == 0 && (r.For == 0 || at >= r.cutoff) && !r.undecided() {
			break
		}
		for at >= r.idleMark {
			r.passIdle()
		}
		r.now = at
		r.events++
		switch k {
		case wakesUp:
			r.resources[what].wake(at)
		case arrives:
			r.arrive(int(r.arrivals.Pop().What))
		default:
			r.take(r.heap.Pop())
		}
		if r.Check {
			r.check()
		}
		if r.events%progressEvery == 0 && progress != nil {
			progress(min(time.Duration(at), max(r.For, 0)), r.For)
		}
		if r.err != nil {
			return
		}
	}
	if progress != nil {
		progress(r.For, r.For)
	}
}

// nextEvent returns the earliest event: the heap's, an arrival, or a machine's
// wake-up.
func (r *run) nextEvent() (at unit.Instant, k kind, what int) {
	at, k = unit.Never, samples
	if r.heap.Len() > 0 {
		at, k = r.heap.First().At, r.heap.First().Kind()
	}
	if r.arrivals.Len() > 0 {
		if next := r.arrivals.First().At; next < at || next == at && k > arrives {
			at, k = next, arrives
		}
	}
	for i, m := range r.machines {
		if next := max(m.Next(), r.now); next < at || next == at && k > wakesUp && next != unit.Never {
			at, k, what = next, wakesUp, i
		}
	}
	return at, k, what
}

// take plays an event of the heap.
func (r *run) take(e event) {
	switch e.Kind() {
	case changes:
		if c := &r.Changes[e.What]; c.Drain {
			r.resources[c.Resource].drain(e.At)
		} else if c.Operate != nil {
			r.resources[c.Resource].operate(e.At, c.Operate)
		} else if c.Press != nil {
			r.resources[c.Resource].press(e.At, *c.Press)
		} else {
			r.resources[c.Resource].reconfigure(e.At, c.Boundary)
		}
	case swells:
		r.resources[e.What].swell()
	case samples:
		r.Sample(e.At, r.machines)
		if next := e.At.Add(r.SampleEvery); next < r.cutoff || r.For == 0 {
			r.heap.Push(next, samples, 0, 0)
		}
	default:
		if e.Kind() == callerActs {
			if c := r.clients.at(e.What); c.life == e.Life {
				r.callerActs(e.What, c)
			}
			return
		}
		if e.Kind() == storeAnswers {
			r.storeAnswered(e.What)
			return
		}
		a := r.attempts.at(e.What)
		if a.life != e.Life {
			return // it has ended by then
		}
		switch e.Kind() {
		case workEnds:
			r.workEnds(e.What, a)
		case callTimesOut:
			r.callTimesOut(e.What, a)
		case callerLeaves:
			r.callerLeaves(e.What, a)
		case triesAgain:
			r.callers-- // counted anew by offer
			r.offer(e.What, a)
		case stepsDown:
			r.offerRung(e.What, a)
		}
	}
}

// arrive makes the stream's pending arrival its caller's first attempt.
func (r *run) arrive(i int) {
	st := r.streams[i]
	n := &st.next
	r.callers--
	r.last = r.now
	c := r.route(n.Class, st)
	if c == nil {
		return
	}
	what := r.attempts.take()
	a := r.attempts.at(what)
	a.number, a.scheduled = n.N, r.now
	a.service, a.allowed, a.cost, a.bytes = n.Service, n.Deadline, n.Cost, n.Bytes
	a.class, a.stream, a.tenant, a.level, a.session, a.key = c, int32(i), n.Tenant, n.Importance, n.Session, n.Key
	a.stretch, a.gap = n.Stretch, shed.Gap(n.Gap)
	st.budget.earn()
	if r.counts(r.now) {
		st.result.Callers++
	}
	r.await(i)
	if st.client != nil {
		r.ask(what, a)
		return
	}
	r.offer(what, a)
}

// counts reports whether what arrives at an instant is counted.
func (r *run) counts(at unit.Instant) bool { return at >= unit.Instant(r.WarmUp) }

// route returns the class of a name, or fails the run and returns nil.
func (r *run) route(name workload.Name, st *stream) *class {
	if name == 0 {
		return st.class
	}
	for int(name) >= len(r.routes) {
		r.routes = append(r.routes, nil)
	}
	if c := r.routes[name]; c != nil {
		return c
	}
	text := r.Names.Classes.String(name)
	c := r.byName[text]
	if c == nil || c.asked != 0 {
		r.fail(fmt.Errorf("a request is of class %q, which no resource has", text))
		return nil
	}
	r.routes[name] = c
	return c
}
