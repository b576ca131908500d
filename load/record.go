package load

import (
	"context"
	"errors"
	"io"
	"maps"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/spillway-dev/spillway/policy/reason"
	"github.com/spillway-dev/spillway/report"
)

// verdict is how a request ended, in the collector's numbers.
type verdict struct {
	rung   report.Rung
	reason reason.Reason
	would  reason.Reason // what spillway decided and did not carry out; None for nothing
}

// record counts what became of the requests, and how well the schedule was
// kept. Safe for concurrent use.
type record struct {
	unsent  verdict
	offered atomic.Int64
	bound   time.Duration // of lag; 0 is the default, which depends on the rate

	mu        sync.Mutex
	collector *report.Collector
	tallies   map[tallyKey]*report.Tally
	lag       *hdrhistogram.Histogram // ns
	late      [3]int64                // by more than bound, lagSlow, lagFast
	answered  int64
	attempts  int64
	dropped   int64 // unsent
	errors    map[string]int64
}

type tallyKey struct{ class, tenant string }

// The default bounds of the lag's p99, by what a generator with one thread has
// been seen to hold: 0.5 ms at 5,000 requests/s, 5 ms at 20,000.
const (
	lagSlow   = time.Millisecond
	lagFast   = 10 * time.Millisecond
	slowUpTo  = 5000 // requests/s
	maxErrors = 20   // kinds of errors told apart
)

func newRecord(c *report.Collector, bound time.Duration) *record {
	return &record{
		unsent:    verdict{rung: report.NoRung, reason: c.Reason("unsent")},
		bound:     bound,
		collector: c,
		tallies:   map[tallyKey]*report.Tally{},
		lag:       hdrhistogram.New(1, int64(time.Hour), 3),
		errors:    map[string]int64{},
	}
}

// judge turns an answer or an error into a verdict. What spillway says in its
// headers is believed; any other server is judged by the status.
func (r *record) judge(resp *response, err error, stopping bool) verdict {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case err != nil && stopping:
		return verdict{rung: report.NoRung, reason: reason.CallerGone}
	case err != nil:
		r.noteError(err)
		if isTimeout(err) {
			return verdict{rung: report.NoRung, reason: reason.Timeout}
		}
		return verdict{rung: report.NoRung, reason: reason.Failed}
	}
	why := reasonOf(resp.status)
	if len(resp.reason) > 0 && label(resp.reason) {
		if named := r.collector.Reason(string(resp.reason)); named != reason.Served || resp.status < 500 {
			why = named
		}
	}
	v := verdict{report.NoRung, why, wouldBe(resp.shadow)}
	switch rung := string(resp.rung); {
	case rung == "refusal" || resp.status >= 400 && why != reason.Served:
	case rung == "" || rung == "primary" || !label(resp.rung):
		v.rung = report.Primary
	default:
		v.rung = r.collector.Rung(rung)
	}
	return v
}

// wouldBe reads Spillway-Shadow: run, wait or a reason.
func wouldBe(shadow []byte) reason.Reason {
	switch text := string(shadow); text {
	case "":
		return reason.None
	case "run", "wait":
		return reason.Served
	default:
		why, _ := reason.Parse(text)
		return why
	}
}

// reasonOf is what a status means where no header says more.
func reasonOf(status int) reason.Reason {
	switch {
	case status < 400:
		return reason.Served
	case status == 401 || status == 403:
		return reason.Unauthorized
	case status == 413:
		return reason.TooLarge
	case status == 429:
		return reason.RateLimited
	case status < 500:
		return reason.BadRequest
	case status == 504:
		return reason.Timeout
	}
	return reason.Failed
}

// label says whether a header's value can be a name in a report.
func label(b []byte) bool {
	for _, c := range b {
		if !(c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '_' || c == '-') {
			return false
		}
	}
	return len(b) > 0
}

func isTimeout(err error) bool {
	var t interface{ Timeout() bool }
	return errors.Is(err, os.ErrDeadlineExceeded) || errors.Is(err, context.DeadlineExceeded) || errors.As(err, &t) && t.Timeout()
}

// noteError counts an error by its innermost cause, which names no address and
// so is one of few.
func (r *record) noteError(err error) {
	var errno syscall.Errno
	what := err.Error()
	switch {
	case isTimeout(err):
		what = "no answer within the timeout"
	case errors.As(err, &errno):
		what = errno.Error()
	case errors.Is(err, io.ErrUnexpectedEOF):
		what = "the connection was closed within an answer"
	case errors.Is(err, io.EOF):
		what = "the connection was closed before an answer"
	case errors.Is(err, errMalformed):
		what = errMalformed.Error()
	default:
		for inner := errors.Unwrap(err); inner != nil; inner = errors.Unwrap(inner) {
			what = inner.Error()
		}
	}
	if _, known := r.errors[what]; !known && len(r.errors) >= maxErrors {
		what = "other"
	}
	r.errors[what]++
}

// add records a shot's end.
func (r *record) add(g *generator, s *shot, v verdict, now time.Time) {
	at, latency := now.Sub(g.start), now.Sub(s.due)
	deadline := g.Deadline
	if s.arrival.Deadline > 0 {
		deadline = s.arrival.Deadline
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	key := tallyKey{s.class, s.tenant}
	t := r.tallies[key]
	if t == nil {
		t = r.collector.Tally(s.class, s.tenant)
		if len(r.tallies) < 1<<16 {
			r.tallies[key] = t
		}
	}
	t.Offered(int64(s.arrival.At))
	started := v.rung != report.NoRung
	if started {
		t.Started(int64(s.sent.Sub(g.start)), report.WaitUnknown)
	}
	t.Done(report.Outcome{
		At: int64(at), Latency: int64(latency), Rung: v.rung, Reason: v.reason,
		Started: started, InDeadline: latency <= deadline, Calls: int32(s.attempts),
	})
	if v.would != reason.None {
		r.collector.Class(s.class).Would(v.would)
	}
	r.answered++
	r.attempts += int64(s.attempts)
	if v == r.unsent {
		r.dropped++
	}
	if !s.sent.IsZero() {
		r.noteLag(max(0, s.sent.Sub(s.due)))
	}
	if g.Told != nil {
		g.Told(r.outcome(g, s, v, at))
	}
}

func (r *record) noteLag(lag time.Duration) {
	_ = r.lag.RecordValue(int64(min(lag, time.Hour)))
	for i, bound := range []time.Duration{r.bound, lagSlow, lagFast} {
		if lag > bound {
			r.late[i]++
		}
	}
}

func (r *record) progress() Progress {
	r.mu.Lock()
	defer r.mu.Unlock()
	return Progress{Offered: r.offered.Load(), Answered: r.answered, Unsent: r.dropped, Lag: r.lags()}
}

func (r *record) lags() Lag {
	return Lag{P50: ms(r.lag.ValueAtQuantile(50)), P99: ms(r.lag.ValueAtQuantile(99)), Max: ms(r.lag.Max())}
}

func ms(ns int64) float64 { return float64(ns) / 1e6 }

func (r *record) figures(bound, length time.Duration) Figures {
	r.mu.Lock()
	defer r.mu.Unlock()
	offered, late := r.offered.Load(), r.late[0]
	if bound == 0 {
		bound, late = lagSlow, r.late[1]
		if float64(offered) > slowUpTo*1.05*length.Seconds() { // Poisson may exceed its mean
			bound, late = lagFast, r.late[2]
		}
	}
	f := Figures{
		Offered: offered, Unsent: r.dropped, Late: late, Attempts: r.attempts,
		Errors: maps.Clone(r.errors), Lag: r.lags(), LagBound: ms(int64(bound)),
	}
	f.LagExceeded = f.Lag.P99 > f.LagBound
	return f
}
