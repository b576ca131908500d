package jobs

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/spillway-dev/spillway/ledger"
	"github.com/spillway-dev/spillway/policy/job"
)

// Offer offers a job to its class as a request, and returns when what came of it has
// been written to w: the answer, or the refusal. It reports whether there is such a
// class.
type Offer func(class string, w *Writer, r *http.Request) bool

// Settings are what is configured of jobs.
type Settings struct {
	// Workers is how many jobs of a class are offered at once.
	Workers int
	Rules   job.Rules
	// Most bounds all jobs, Each those of a tenant of a class.
	Most, Each job.Bounds
	// Body and Answer are the largest body that is taken and the largest answer that is
	// kept, in bytes.
	Body, Answer int64
	// Keep is how long what has ended is kept.
	Keep time.Duration
	// Deadline is how long a job waits to be started if nothing is said, DeadlineMax the
	// most that may be said.
	Deadline, DeadlineMax time.Duration
	Hooks                 Hooks
}

// Counts are what has happened since the start, by class.
type Counts struct {
	Accepted, Replayed atomic.Int64
	// Ended is by job.State, Started every attempt, Refused every offer that its class had
	// no room for.
	Ended            [job.Freed + 1]atomic.Int64
	Started, Refused atomic.Int64
}

// Jobs is what a gateway has of jobs. It is safe for concurrent use.
type Jobs struct {
	Settings
	Ledger *ledger.Ledger

	offer  Offer
	log    *slog.Logger
	intake chan struct{} // one for each body that is being taken in

	picking, running    context.Context // of what picks jobs, and of their calls
	stopPicking, cutOff context.CancelFunc
	crews               sync.WaitGroup
	others              sync.WaitGroup
	tell                chan struct{}

	mu     sync.Mutex
	lines  map[string]*crew
	counts map[string]*Counts
	ended  bool
}

// crew is a line with its workers.
type crew struct {
	*line
	stop context.CancelFunc
}

// intakeMost is how many bodies are taken in at once: what is in memory of requests that
// are to become jobs is at most so many times the largest body.
const intakeMost = 64

// New returns jobs on a ledger. Classes starts them.
func New(l *ledger.Ledger, s Settings, offer Offer, log *slog.Logger) *Jobs {
	j := &Jobs{Settings: s, Ledger: l, offer: offer, log: log, intake: make(chan struct{}, intakeMost), tell: make(chan struct{}, 1),
		lines: map[string]*crew{}, counts: map[string]*Counts{}}
	j.picking, j.stopPicking = context.WithCancel(context.Background())
	j.running, j.cutOff = context.WithCancel(context.Background())
	return j
}

// Start begins to keep house: what is late, what is over, whom to tell.
func (j *Jobs) Start() {
	j.others.Go(j.keepHouse)
	if len(j.Hooks.Hosts) > 0 {
		j.others.Go(j.tellAll)
	}
}

// Classes sets which classes there are. Those that are new begin to work off what waits
// of them; those that are gone leave it as it is.
func (j *Jobs) Classes(all []Class) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.ended {
		return
	}
	named := map[string]bool{}
	for i := range all {
		c := all[i]
		named[c.Name] = true
		if old := j.lines[c.Name]; old != nil {
			if old.class.same(&c) {
				continue
			}
			old.stop()
		}
		ctx, stop := context.WithCancel(j.picking)
		n := &crew{newLine(c, j.Ledger), stop}
		j.lines[c.Name] = n
		j.count(c.Name)
		j.crews.Go(func() { j.work(ctx, n.line) })
	}
	for name, c := range j.lines { // order does not matter: each by itself
		if !named[name] {
			c.stop()
			delete(j.lines, name)
		}
	}
}

// work hands the jobs of a line to workers until ctx ends, and waits for them.
func (j *Jobs) work(ctx context.Context, l *line) {
	turns := make(chan ledger.Job)
	var workers sync.WaitGroup
	for range j.Workers {
		workers.Go(func() {
			for one := range turns {
				j.do(ctx, l, one)
			}
		})
	}
	for {
		one, ok := l.next(ctx)
		if !ok {
			break
		}
		select {
		case turns <- one:
		case <-ctx.Done():
		}
	}
	close(turns)
	workers.Wait()
}

// Stop ends the offering of jobs, waits until ctx ends for those that run, and cuts off
// the rest.
func (j *Jobs) Stop(ctx context.Context) {
	j.mu.Lock()
	j.ended = true
	j.mu.Unlock()
	j.stopPicking()
	done := make(chan struct{})
	go func() {
		j.crews.Wait()
		close(done)
	}()
	select {
	case <-done:
	case <-ctx.Done():
		j.cutOff()
		<-done
	}
	j.cutOff()
	j.others.Wait()
}

// Count returns the counts of a class.
func (j *Jobs) Count(class string) *Counts {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.count(class)
}

func (j *Jobs) count(class string) *Counts {
	c := j.counts[class]
	if c == nil {
		c = new(Counts)
		j.counts[class] = c
	}
	return c
}

// Added notes that a job was accepted.
func (j *Jobs) Added(a *ledger.Job) {
	j.Count(a.Class).Accepted.Add(1)
	j.Waits(a)
}

// Waits notes that a job waits for its turn.
func (j *Jobs) Waits(a *ledger.Job) {
	j.mu.Lock()
	l := j.lines[a.Class]
	j.mu.Unlock()
	if l != nil {
		l.added(a.Tenant)
	}
}

// Takes reports whether there is room to take in another body, which done gives back.
func (j *Jobs) Takes() (done func(), ok bool) {
	select {
	case j.intake <- struct{}{}:
		return func() { <-j.intake }, true
	default:
		return nil, false
	}
}

// How often the house is kept.
const (
	lateEvery  = time.Second
	sweepEvery = 30 * time.Second
)

// keepHouse ends what is late and forgets what is over.
func (j *Jobs) keepHouse() {
	late, sweep := time.NewTicker(lateEvery), time.NewTicker(sweepEvery)
	defer late.Stop()
	defer sweep.Stop()
	for {
		var err error
		select {
		case <-j.picking.Done():
			return
		case <-late.C:
			var n int
			if n, err = j.Ledger.ExpireJobs(j.picking); n > 0 {
				j.stirTeller()
			}
		case <-sweep.C:
			_, err = j.Ledger.SweepJobs(j.picking, j.Keep)
		}
		if err != nil && !errors.Is(err, context.Canceled) {
			j.log.Warn("jobs cannot be looked after", "error", err)
		}
	}
}

func now() time.Time { return time.Now() }
