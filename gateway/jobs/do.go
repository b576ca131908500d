package jobs

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/spillway-dev/spillway/gate"
	"github.com/spillway-dev/spillway/gate/httpgate"
	"github.com/spillway-dev/spillway/ledger"
	"github.com/spillway-dev/spillway/policy/call"
	"github.com/spillway-dev/spillway/policy/job"
	"github.com/spillway-dev/spillway/policy/reason"
)

// HeaderKey is under which all attempts of a request are one.
const HeaderKey = "Idempotency-Key"

// do offers a job once and writes down what came of it.
func (j *Jobs) do(ctx context.Context, l *line, one ledger.Job) {
	w, err := j.attempt(one)
	started := w != nil && w.begun
	pause, rest := time.Duration(0), time.Duration(0)
	switch {
	case err != nil && !errors.Is(err, job.ErrStale) && !errors.Is(err, job.ErrOver) && !errors.Is(err, job.ErrEarly) && !errors.Is(err, job.ErrLate) && !errors.Is(err, ledger.ErrNoJob):
		j.log.Warn("a job could not be offered", "class", one.Class, "job", one.ID, "error", err)
		pause = pauseMost
	case !started && err == nil:
		j.Count(one.Class).Refused.Add(1)
		if pause = w.comeBack(); w.ownLimit() {
			rest, pause = pause, 0
		}
	}
	l.back(&one, started, rest)
	if pause > 0 {
		timer := time.NewTimer(pause)
		defer timer.Stop()
		select {
		case <-ctx.Done():
		case <-timer.C:
		}
	}
}

// attempt offers the job to its class and settles what came of it. It returns an error if
// the job was not to be started after all, or nothing could be written down.
func (j *Jobs) attempt(one ledger.Job) (*Writer, error) {
	m, there, err := j.Ledger.MessageOf(j.running, one.ID, ledger.Request)
	switch {
	case err != nil:
		return nil, err
	case !there:
		return nil, fmt.Errorf("its request is gone: %w", ledger.ErrNoJob)
	}
	head, err := ReadHead(m)
	if err != nil {
		return nil, err
	}
	w := &Writer{header: http.Header{}, most: j.Answer, again: one.Attempt > 0}
	w.claim = func(q *gate.Request) { q.Tenant, q.Importance = one.Tenant, head.Importance }
	ctx, cancel := context.WithCancel(j.running)
	defer cancel()
	r, err := head.Request(w.Watch(ctx), m.Body)
	if err != nil {
		return nil, err
	}
	if r.Header.Get(HeaderKey) == "" {
		r.Header.Set(HeaderKey, `"`+one.ID+`"`)
	}
	// By its caller's own id nobody could tell its attempts apart in logs.
	r.Header[httpgate.HeaderRequestID] = []string{fmt.Sprintf("%s-%d", one.ID, one.Attempt+1)}
	var refused error
	w.begin = func() error {
		_, refused = j.Ledger.StartJob(j.running, one.ID, one.Attempt)
		return refused
	}
	brokeOff := j.serve(one.Class, w, r)
	if !w.begun {
		return w, refused
	}
	j.Count(one.Class).Started.Add(1)
	_, err = j.settle(one.ID, one.Attempt+1, w, brokeOff)
	return w, err
}

// serve has the request served, and reports whether its handler broke off.
func (j *Jobs) serve(class string, w *Writer, r *http.Request) (brokeOff bool) {
	defer func() {
		if p := recover(); p != nil {
			if p != http.ErrAbortHandler {
				panic(p)
			}
			brokeOff = true
		}
	}()
	if !j.offer(class, w, r) {
		w.WriteHeader(http.StatusServiceUnavailable)
	}
	return false
}

// settle writes down what an attempt has come to.
func (j *Jobs) settle(id string, attempt int64, w *Writer, brokeOff bool) (ledger.Job, error) {
	e := ledger.Ending{Outcome: w.outcome(brokeOff), Rules: j.Rules, Status: int64(w.status)}
	if e.Outcome.Result != call.OK {
		e.Evidence = fmt.Sprintf("answered %d, %s", w.status, w.header.Get(httpgate.HeaderReason))
	}
	if brokeOff || w.over {
		e.Evidence = "its answer broke off"
		if w.over {
			e.Evidence = "its answer was too large to be kept"
		}
	} else if w.status != 0 {
		m, err := Head{Header: kept(w.header)}.Message(w.body)
		if err != nil {
			return ledger.Job{}, err
		}
		e.Answer = &m
	}
	done, err := j.end(id, attempt, e)
	if err != nil {
		return done, err
	}
	j.Count(done.Class).Ended[done.State].Add(1)
	if done.TellAt != 0 {
		j.stirTeller()
	}
	return done, nil
}

// end writes an end down. A ledger that does not answer is asked again, for as long as
// jobs are done at all: else an answer that was given would be unknown. What has happened
// is written down also when the gateway is about to end.
func (j *Jobs) end(id string, attempt int64, e ledger.Ending) (ledger.Job, error) {
	for pause := settleFirst; ; pause = min(2*pause, settleMost) {
		ctx, cancel := context.WithTimeout(context.Background(), settleMost)
		done, err := j.Ledger.EndJob(ctx, id, attempt, e)
		cancel()
		if !errors.Is(err, ledger.ErrUnavailable) && !errors.Is(err, context.DeadlineExceeded) || j.running.Err() != nil {
			return done, err
		}
		j.log.Warn("what a job has come to could not be written down", "job", id, "again_in", pause, "error", err)
		select {
		case <-j.running.Done():
		case <-time.After(pause):
		}
	}
}

// How long the ledger is given, and left alone between two asks.
const (
	settleFirst = 50 * time.Millisecond
	settleMost  = 10 * time.Second
)

// Bounds of how long a worker pauses after its class had no room.
const (
	pauseLeast = 10 * time.Millisecond
	pauseMost  = time.Second
)

// comeBack is when the class says that it may have room again.
func (w *Writer) comeBack() time.Duration {
	return min(max(call.ReadPushback(w.header.Get, now()).After, pauseLeast), pauseMost)
}

// ownLimit reports whether it is the tenant's own limit that refused, which holds nobody
// else up.
func (w *Writer) ownLimit() bool {
	why, _ := reason.Parse(w.header.Get(httpgate.HeaderReason))
	return why.Kind() == reason.KindCaller
}
