package fallback

import (
	"fmt"
	"runtime"
	"sync"

	"github.com/spillway-dev/spillway/lab"
	"github.com/spillway-dev/spillway/policy/reason"
	"github.com/spillway-dev/spillway/policy/unit"
	"github.com/spillway-dev/spillway/report"
	"github.com/spillway-dev/spillway/sim/store"
)

// keep says what is kept of a round beside its figures.
type keep uint8

const (
	figuresOnly keep = iota
	theEnd           // the requests of its last seconds
	everything
)

// record is what is kept of a round.
type record struct {
	requests []store.Request
	lookups  []store.Lookup
	reasons  report.Counts // of all requests
	n        int           // of them
	missed   []int64       // numbers of those that the store did not answer
}

// playRound plays one round of an arm.
func (s *Setting) playRound(seed uint64, round int, k keep) (Round, record, error) {
	return s.playWith(round, k, func(w store.Watch) (store.Sums, error) {
		sc, err := s.scenario(seed, round)
		if err != nil {
			return store.Sums{}, err
		}
		run, err := store.New(sc)
		if err != nil {
			return store.Sums{}, err
		}
		sums, err := run.Play(w)
		if err != nil {
			err = fmt.Errorf("%w: %w", lab.ErrSums, err)
		}
		return sums, err
	})
}

// playWith makes figures and a record of a round that play plays.
func (s *Setting) playWith(round int, k keep, play func(store.Watch) (store.Sums, error)) (Round, record, error) {
	kept := record{reasons: report.Counts{}}
	c := newCollector(s)
	w := store.Watch{Request: c.request, Lookup: c.lookup}
	switch k {
	case theEnd:
		w.Request = func(q *store.Request) {
			c.request(q)
			if q.Scheduled >= c.late {
				kept.requests = append(kept.requests, *q)
			}
		}
	case everything:
		w.Request = func(q *store.Request) {
			c.request(q)
			kept.requests = append(kept.requests, *q)
		}
		w.Lookup = func(l *store.Lookup) {
			c.lookup(l)
			kept.lookups = append(kept.lookups, *l)
		}
	}
	sums, err := play(w)
	if err != nil {
		return Round{}, kept, fmt.Errorf("round %d: %w", round+1, err)
	}
	for why, n := range c.reasons {
		if n > 0 {
			kept.reasons[reason.Reason(why).String()] = n
		}
	}
	kept.n, kept.missed = len(c.requests), c.missed
	return c.figures(sums), kept, nil
}

// playRounds plays rounds from first on, as many at once as there are processors,
// and hands what is kept of each to take, in order.
func (s *Setting) playRounds(seed uint64, first, n int, k keep, take func(round int, kept *record)) ([]Round, error) {
	rounds := make([]Round, n)
	batch := max(1, runtime.GOMAXPROCS(0))
	for from := 0; from < n; from += batch {
		size := min(batch, n-from)
		kept, errs := make([]record, size), make([]error, size)
		var all sync.WaitGroup
		for i := range size {
			all.Go(func() { rounds[from+i], kept[i], errs[i] = s.playRound(seed, first+from+i, k) })
		}
		all.Wait()
		for i := range size {
			if errs[i] != nil {
				return nil, errs[i]
			}
			if take != nil {
				take(first+from+i, &kept[i])
			}
		}
	}
	return rounds, nil
}

// write writes what is kept of a round into an arm's file.
func (s *Setting) write(file *lab.Arm, round int, kept *record) {
	for i := range kept.requests {
		q := &kept.requests[i]
		file.Asked(round, q, s.answerOf(q))
	}
	for i := range kept.lookups {
		file.Lookup(round, &kept.lookups[i])
	}
}

// answerOf is what a request was answered with.
func (s *Setting) answerOf(q *store.Request) string {
	if q.Reason == reason.Served {
		return reason.Served.String()
	}
	return s.Otherwise
}

func inMs(t unit.Instant) float64 { return float64(t) / 1e6 }
