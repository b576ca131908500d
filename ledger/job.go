package ledger

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spillway-dev/spillway/policy/call"
	"github.com/spillway-dev/spillway/policy/job"
	"github.com/spillway-dev/spillway/policy/quota"
	"github.com/spillway-dev/spillway/policy/reason"
	"github.com/spillway-dev/spillway/policy/unit"
)

// Job is a job as the ledger has it, without its request and its answer. Instants are
// of the store's Run clock.
type Job struct {
	// ID names it. Ids sort by when their jobs were accepted.
	ID string
	job.Job
	Class, Tenant string
	// By is who brought it, where that was proved; "" for anybody.
	By string
	// Key is the idempotency key within its scope, "" for none. No two jobs that are
	// there have the same.
	Key string
	// Print is the fingerprint of what was asked under it.
	Print string
	// Owner is the process that started its latest attempt.
	Owner string
	// Cost is what it takes, in the class's unit.
	Cost int64
	// Bytes is what its rows hold.
	Bytes int64
	// Accepted is when it was.
	Accepted quota.Time
	// Status is of the answer, 0 where there is none; Kept says whether the answer is in
	// the ledger.
	Status int64
	Kept   bool
	// Evidence is how its end is known, or why it is not.
	Evidence string
	// Webhook is where its end is told, "" for nowhere.
	Webhook string
	// Told is how often that was tried, and TellAt when it is next: 0 where there is
	// nothing more to tell.
	Told   int64
	TellAt unit.Instant
}

// Message is a request or an answer as it was, or will be, on the wire. The ledger looks
// into neither part.
type Message struct{ Head, Body []byte }

func (m *Message) size() int64 { return int64(len(m.Head) + len(m.Body)) }

// Part says which message of a job.
type Part uint8

// The parts.
const (
	Request Part = iota
	Answer
)

// JobBase is what a job's rows hold beside its messages, in bytes: rows and indexes.
const JobBase = 512

// Errors of jobs. What policy/job says of one is passed on as it is.
var (
	// ErrNoJob: there is no such job.
	ErrNoJob = errors.New("there is no such job")
)

// NewJob is a job that is to be accepted, or a request whose key is to be claimed.
type NewJob struct {
	ID, Class, Tenant string
	By                string
	Key, Print        string
	Request           Message // of an inline job it is not kept
	Cost              int64
	Harmless, Inline  bool
	// Within is how long it may wait to be started; 0: for ever.
	Within  time.Duration
	Webhook string
	// Most bounds all jobs, Each those of a tenant of a class.
	Most, Each job.Bounds
}

// Acceptance is what became of a NewJob.
type Acceptance struct {
	// Claim is Free if the job is there now. Else its key was there: Job is whose.
	Claim job.Claim
	// Reason is why there is no room for it; reason.None where there was.
	Reason reason.Reason
	Job    Job
}

// Accept writes a job together with its key, in one transaction: when it returns that
// the job is there, it is on disk. An inline job is running then, by this process.
func (l *Ledger) Accept(ctx context.Context, n NewJob) (a Acceptance, err error) {
	if err := n.check(); err != nil {
		return a, err
	}
	t := Touches{Jobs: []string{n.ID}, Lines: LinesOf(n.Class, n.Tenant)}
	if n.Key != "" {
		t.Keys = []string{n.Key}
	}
	err = l.group.do(ctx, t, func(r Rows) (err error) {
		a, err = l.accept(r, &n)
		return err
	})
	return a, err
}

func (l *Ledger) accept(r Rows, n *NewJob) (a Acceptance, err error) {
	if n.Key != "" {
		holder, there, err := r.KeyHolder(n.Key)
		if err != nil {
			return a, err
		}
		if there {
			return Acceptance{Claim: holder.Claims(holder.Print == n.Print, holder.Kept), Job: holder}, nil
		}
	}
	bytes := int64(JobBase)
	if !n.Inline {
		bytes += n.Request.size()
	}
	lines := LinesOf(n.Class, n.Tenant)
	all, err := r.Line(lines[0])
	if err != nil {
		return a, err
	}
	tenant, err := r.Line(lines[2])
	if err != nil {
		return a, err
	}
	if a.Reason = job.Room(all, tenant, n.Most, n.Each, bytes); a.Reason != reason.None {
		return a, nil
	}
	now := r.Time()
	a.Job = Job{
		ID: n.ID, Class: n.Class, Tenant: n.Tenant, By: n.By, Key: n.Key, Print: n.Print, Cost: n.Cost, Bytes: bytes, Accepted: now, Webhook: n.Webhook,
		Job: job.Job{Due: now.Run, Deadline: unit.Never, Harmless: n.Harmless, Inline: n.Inline},
	}
	if n.Within > 0 {
		a.Job.Deadline = now.Run.Add(n.Within)
	}
	if n.Inline {
		if err := a.Job.Start(0, now.Run); err != nil {
			return a, err
		}
		a.Job.Owner = l.owner
	} else if err := r.SetMessage(n.ID, Request, n.Request); err != nil {
		return a, err
	}
	return a, count(r, nil, &a.Job)
}

// StartJob writes the start marker of the attempt after the one named: the call may be
// sent when it returns nil. The job is returned as it is then.
func (l *Ledger) StartJob(ctx context.Context, id string, attempt int64) (Job, error) {
	return l.changeJob(ctx, id, func(_ Rows, j *Job, now unit.Instant) error {
		err := j.Start(attempt, now)
		if err == nil {
			j.Owner = l.owner
		}
		return err
	})
}

// Ending is what an attempt of a job has come to.
type Ending struct {
	Outcome call.Outcome
	Rules   job.Rules
	// Status and Answer are what it was answered, 0 and nil where it was not, or where
	// the answer is too large to be kept.
	Status   int64
	Answer   *Message
	Evidence string
}

// EndJob settles an attempt: its state, its answer and its key's, in one transaction.
func (l *Ledger) EndJob(ctx context.Context, id string, attempt int64, e Ending) (Job, error) {
	return l.changeJob(ctx, id, func(r Rows, j *Job, now unit.Instant) error {
		if err := j.End(attempt, now, e.Outcome, e.Rules, &l.luck); err != nil {
			return err
		}
		j.Evidence = cut(e.Evidence)
		if j.State == job.Waiting || j.State == job.Freed {
			return nil
		}
		j.Status = e.Status
		if e.Answer == nil {
			return nil
		}
		j.Kept = true
		j.Bytes += e.Answer.size()
		return r.SetMessage(id, Answer, *e.Answer)
	})
}

// CancelJob takes a job back.
func (l *Ledger) CancelJob(ctx context.Context, id string) (Job, error) {
	return l.changeJob(ctx, id, func(_ Rows, j *Job, now unit.Instant) error { return j.Cancel(now) })
}

// ResolveJob ends what is unknown by evidence from outside.
func (l *Ledger) ResolveJob(ctx context.Context, id string, notStarted bool, evidence string) (Job, error) {
	if evidence == "" {
		return Job{}, fmt.Errorf("say how it is known: evidence may not be empty")
	}
	return l.changeJob(ctx, id, func(_ Rows, j *Job, now unit.Instant) error {
		err := j.Resolve(j.Attempt, now, notStarted)
		j.Evidence = cut(evidence)
		return err
	})
}

// ToldJob records that a job's end was told, or that it was tried and is tried again
// after a pause.
func (l *Ledger) ToldJob(ctx context.Context, id string, told bool, again time.Duration) error {
	_, err := l.changeJob(ctx, id, func(_ Rows, j *Job, now unit.Instant) error {
		j.Told++
		j.TellAt = 0
		if !told && again > 0 {
			j.TellAt = now.Add(again)
		}
		return nil
	})
	return err
}

// changeJob loads a job, has f change it, and writes it with what it counts for. An
// error of f is returned; what it has changed all the same, as job.ErrLate has, is
// written.
func (l *Ledger) changeJob(ctx context.Context, id string, f func(Rows, *Job, unit.Instant) error) (j Job, err error) {
	var wrong error
	err = l.group.do(ctx, Touches{Jobs: []string{id}}, func(r Rows) (err error) {
		j, wrong, err = changeJob(r, id, f)
		return err
	})
	if err == nil {
		err = wrong
	}
	return j, err
}

func changeJob(r Rows, id string, f func(Rows, *Job, unit.Instant) error) (j Job, wrong, err error) {
	j, there, err := r.Job(id)
	if err != nil || !there {
		return j, ErrNoJob, err
	}
	was, now := j, r.Time().Run
	if wrong = f(r, &j, now); wrong != nil && !errors.Is(wrong, job.ErrLate) {
		return was, wrong, nil
	}
	if j.State.Final() && !was.State.Final() {
		if err := conclude(r, &j, now); err != nil {
			return j, nil, err
		}
	}
	return j, wrong, count(r, &was, &j)
}

// conclude is what there is to be done when a job's end is known: who is to be told is
// told, and a request that is not needed any more goes. That of a dead one stays, for
// whoever finds out why.
func conclude(r Rows, j *Job, now unit.Instant) error {
	if j.Webhook != "" {
		j.TellAt = now
	}
	if j.State == job.Dead || j.Inline {
		return nil
	}
	m, there, err := r.Message(j.ID, Request)
	if err != nil || !there {
		return err
	}
	j.Bytes -= m.size()
	return r.DropMessage(j.ID, Request)
}

// count writes a job as it has become, and counts it in its lines instead of what it
// was; nil: it was not there.
func count(r Rows, was, is *Job) error {
	for _, name := range LinesOf(is.Class, is.Tenant) {
		l, err := r.Line(name)
		if err != nil {
			return err
		}
		before := l
		if was != nil {
			l = l.Add(&was.Job, was.Bytes, -1)
		}
		if is.State != job.Freed {
			l = l.Add(&is.Job, is.Bytes, 1)
		}
		if l != before {
			if err := r.SetLine(name, l); err != nil {
				return err
			}
		}
	}
	if is.State == job.Freed {
		return r.RemoveJob(is.ID)
	}
	return r.SetJob(*is)
}

// check returns what is wrong with a new job, or nil.
func (n *NewJob) check() error {
	for what, s := range map[string]string{"class": n.Class, "tenant": n.Tenant, "bringer": n.By, "key": n.Key, "fingerprint": n.Print} {
		if len(s) > NameMax {
			return fmt.Errorf("a %s of %d bytes; at most %d are right", what, len(s), NameMax)
		}
	}
	switch {
	case n.ID == "" || len(n.ID) > NameMax:
		return fmt.Errorf("an id of %d bytes; 1 to %d are right", len(n.ID), NameMax)
	case len(n.Webhook) > EvidenceMax:
		return fmt.Errorf("a webhook of %d bytes; at most %d are right", len(n.Webhook), EvidenceMax)
	case n.Within < 0:
		return fmt.Errorf("a deadline %v ago", -n.Within)
	}
	return nil
}
