package load

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/spillway-dev/spillway/workload"
)

// generator is one run: a schedule, walked by one thread; a carrier that brings
// requests to the target; a record of what became of them.
type generator struct {
	Config
	templates *templates
	carrier   carrier
	record    *record
	start     time.Time     // of the schedule
	started   chan struct{} // closed once start is set
	ended     bool          // the schedule was walked to its end

	open      sync.WaitGroup // shots not recorded yet
	inFlight  atomic.Int64
	scheduled atomic.Int64 // ns
	shots     sync.Pool

	mu        sync.Mutex
	waiting   map[*shot]*time.Timer // for their next attempt
	stopping  bool
	abandoned chan struct{}
}

// maxWaiting bounds the requests that wait for their next attempt; beyond it a
// refusal is final.
const maxWaiting = 1 << 17

func newGenerator(ctx context.Context, c Config) (*generator, error) {
	g := &generator{
		Config:    c,
		record:    newRecord(c.Collector, c.LagBound),
		started:   make(chan struct{}),
		waiting:   map[*shot]*time.Timer{},
		abandoned: make(chan struct{}),
		shots:     sync.Pool{New: func() any { return new(shot) }},
	}
	var err error
	if g.templates, err = newTemplates(c); err != nil {
		return nil, err
	}
	if c.Protocol == HTTP1 && g.templates.target.scheme == "http" {
		g.carrier, err = newPool(ctx, g)
	} else {
		g.carrier, err = newTransport(ctx, g)
	}
	return g, err
}

// walk sends each request at its time. It owns the source, the templates and
// its thread, which ends with it.
func (g *generator) walk(ctx context.Context) {
	runtime.LockOSThread() // never unlocked: the thread's timers are not what others expect
	sharpenThread()
	var a workload.Arrival
	for g.Source.Next(&a) {
		s := g.load(&a)
		if !sleep(ctx, s.due) {
			return
		}
		g.record.offered.Add(1)
		g.scheduled.Store(int64(a.At))
		g.open.Add(1)
		if g.inFlight.Load() >= int64(g.MaxInFlight) {
			g.settle(s, g.record.unsent, time.Now())
			continue
		}
		g.fire(s)
	}
	g.ended = true
}

// load makes the shot of an arrival ready.
func (g *generator) load(a *workload.Arrival) *shot {
	s := g.shots.Get().(*shot)
	*s = shot{arrival: *a, due: g.start.Add(a.At), wire: s.wire[:0], body: s.body[:0]}
	g.templates.use(a)
	s.class, s.tenant = g.templates.data.Class, g.templates.data.Tenant
	g.carrier.prepare(s, g.templates)
	return s
}

// sleep waits for the instant, looking up now and then to see ctx end.
func sleep(ctx context.Context, due time.Time) bool {
	const nap = 50 * time.Millisecond
	for time.Until(due) > nap {
		sleepUntil(time.Now().Add(nap))
		if ctx.Err() != nil {
			return false
		}
	}
	sleepUntil(due)
	return ctx.Err() == nil
}

// fire starts an attempt.
func (g *generator) fire(s *shot) {
	g.inFlight.Add(1)
	s.attempts++
	g.carrier.send(s)
}

// departed notes that an attempt goes out now.
func (s *shot) departed(now time.Time) {
	if s.sent.IsZero() {
		s.sent = now
	}
}

// giveUp is when its caller no longer waits.
func (g *generator) giveUp(s *shot) time.Time { return s.due.Add(g.Timeout) }

// answered takes what became of an attempt: an answer, or err. The carrier has
// done with the shot.
func (g *generator) answered(s *shot, resp *response, err error) {
	now := time.Now()
	g.inFlight.Add(-1)
	g.mu.Lock()
	stopping := g.stopping
	g.mu.Unlock()
	v := g.record.judge(resp, err, stopping)
	s.status, s.body = 0, s.body[:0]
	if err == nil {
		s.status, s.body = resp.status, append(s.body, resp.kept...)
	}
	if err != nil || !g.retry(s, resp, v, now) {
		g.settle(s, v, now)
	}
}

// retry has the shot wait for its next attempt, if the answer asks for one and
// its caller would live to see it.
func (g *generator) retry(s *shot, resp *response, v verdict, now time.Time) bool {
	if s.attempts >= g.MaxAttempts || resp.neverRetry || resp.status != 429 && resp.status != 503 {
		return false
	}
	wait, asked := resp.wait(now)
	if !asked || !now.Add(wait).Before(g.giveUp(s)) {
		return false
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.stopping || len(g.waiting) >= maxWaiting {
		return false
	}
	s.refusal = v
	g.waiting[s] = time.AfterFunc(wait, func() { g.again(s) })
	return true
}

// again makes the next attempt of a shot that has waited.
func (g *generator) again(s *shot) {
	g.mu.Lock()
	_, ours := g.waiting[s]
	delete(g.waiting, s)
	g.mu.Unlock()
	switch {
	case !ours: // abandon has it
	case g.inFlight.Load() >= int64(g.MaxInFlight):
		g.settle(s, s.refusal, time.Now()) // no room: the refusal stands
	default:
		g.fire(s)
	}
}

// abandon ends a run early.
func (g *generator) abandon() {
	defer close(g.abandoned)
	g.mu.Lock()
	g.stopping = true
	left := g.waiting
	g.waiting = map[*shot]*time.Timer{}
	g.mu.Unlock()
	for s, timer := range left {
		timer.Stop()
		g.settle(s, s.refusal, time.Now())
	}
	g.carrier.sever()
}

// settle records a shot's end.
func (g *generator) settle(s *shot, v verdict, now time.Time) {
	g.record.add(g, s, v, now)
	g.shots.Put(s)
	g.open.Done()
}

// report calls Progress until done.
func (g *generator) report(done <-chan struct{}) {
	<-g.started
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			g.Progress(g.progress())
		case <-done:
			g.Progress(g.progress())
			return
		}
	}
}

func (g *generator) progress() Progress {
	p := g.record.progress()
	p.Elapsed = time.Since(g.start)
	p.Scheduled = time.Duration(g.scheduled.Load())
	p.InFlight = g.inFlight.Load()
	return p
}
