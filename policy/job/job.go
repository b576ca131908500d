package job

import (
	"errors"
	"fmt"

	"github.com/spillway-dev/spillway/policy/call"
	"github.com/spillway-dev/spillway/policy/chance"
	"github.com/spillway-dev/spillway/policy/reason"
	"github.com/spillway-dev/spillway/policy/unit"
)

// State is what is known of a job.
type State uint8

// The states; see the package's picture.
const (
	Waiting   State = iota // it runs when its turn comes, not before Due
	Running                // its start marker is written: the attempt may run
	Unknown                // the attempt may have run, or run still; nobody knows
	Done                   // it was answered
	Dead                   // it was not, and is not tried again
	Cancelled              // it never will be: who brought it has taken it back
	Freed                  // as if it had never been asked: its key is free, its row goes
)

var stateNames = [...]string{"waiting", "running", "unknown", "done", "dead", "cancelled", "freed"}

// String returns the state's name.
func (s State) String() string {
	if int(s) < len(stateNames) {
		return stateNames[s]
	}
	return fmt.Sprintf("state(%d)", uint8(s))
}

// ParseState returns the state of that name. Freed is none that anybody sees.
func ParseState(name string) (State, bool) {
	for i, n := range stateNames[:Freed] {
		if n == name {
			return State(i), true
		}
	}
	return 0, false
}

// Final reports whether nothing can happen to it any more.
func (s State) Final() bool { return s >= Done }

// Job is the state of one job. It is a value.
type Job struct {
	State State
	// Attempt is how many were started, and the fence: whoever writes names it.
	Attempt int64
	// Due is the instant from which it may be started, while it waits.
	Due unit.Instant
	// Deadline is when it is too late to start; unit.Never: never.
	Deadline unit.Instant
	// Ended is when its end was known.
	Ended unit.Instant
	// Harmless: doing it twice is doing it once.
	Harmless bool
	// Inline: its caller waits for the answer. It is never tried again by anybody but
	// that caller.
	Inline bool
	// Stop: it was cancelled while it ran, and is not tried again.
	Stop bool
	// Why is the reason of its end, or of its latest attempt's.
	Why reason.Reason
}

// Rules are how often and when a job is tried again.
type Rules struct {
	// Attempts is the most there may be, 1 .. AttemptsMax.
	Attempts int64
	Backoff  call.Backoff
}

// AttemptsMax bounds Rules.Attempts.
const AttemptsMax = 1000

// The ways in which something said of a job can be wrong. They change nothing but
// for ErrLate.
var (
	// ErrStale: it was said of another attempt.
	ErrStale = errors.New("said of another attempt of the job")
	// ErrOver: its end is known.
	ErrOver = errors.New("the job is over")
	// ErrEarly: it is not due, or runs already.
	ErrEarly = errors.New("the job is not to be started now")
	// ErrLate: its deadline has passed; it is dead.
	ErrLate = errors.New("the job's deadline has passed")
	// ErrUnknown: it may have run, and only evidence ends that.
	ErrUnknown = errors.New("the job may have run: nobody knows")
)

// Start writes the start marker of the attempt after the one that is named.
func (j *Job) Start(attempt int64, now unit.Instant) error {
	switch {
	case j.State.Final():
		return ErrOver
	case attempt != j.Attempt:
		return ErrStale
	case j.State != Waiting || now < j.Due:
		return ErrEarly
	case j.Expire(now):
		return ErrLate
	}
	j.State, j.Attempt = Running, j.Attempt+1
	return nil
}

// Expire ends a job whose deadline has passed before it was started, and reports
// whether it has.
func (j *Job) Expire(now unit.Instant) bool {
	if j.State != Waiting || now < j.Deadline {
		return false
	}
	j.finish(Dead, reason.Expired, now)
	return true
}

// End reports what an attempt has come to. An answer ends a job that is unknown too:
// it is evidence.
func (j *Job) End(attempt int64, now unit.Instant, o call.Outcome, r Rules, c *chance.Source) error {
	if err := j.about(attempt); err != nil {
		return err
	}
	if j.State == Unknown && o.Result != call.OK {
		return ErrUnknown
	}
	if o.Result == call.OK {
		j.finish(Done, reason.Served, now)
		return nil
	}
	due := now.Add(max(r.Backoff.Pause(int(j.Attempt), c), o.After))
	switch again := o.Again(j.Harmless); {
	case again && j.Inline:
		j.finish(Freed, reason.Failed, now)
	case again && j.Stop:
		j.finish(Cancelled, reason.Failed, now)
	case again && j.Attempt < r.Attempts && due < j.Deadline:
		j.State, j.Due, j.Why = Waiting, due, reason.Failed
	case o.Result == call.Broken && !j.Harmless:
		j.State, j.Why = Unknown, reason.Unknown
	default:
		j.finish(Dead, reason.Failed, now)
	}
	return nil
}

// Lost reports that the owner of an attempt that was started is gone: nobody knows what
// became of it.
func (j *Job) Lost(attempt int64, now unit.Instant, r Rules, c *chance.Source) error {
	if j.State != Running {
		return ErrStale
	}
	return j.End(attempt, now, call.Outcome{Result: call.Broken}, r, c)
}

// Cancel takes a job back. What runs is not stopped, since that would only make it
// unknown: it is not tried again.
func (j *Job) Cancel(now unit.Instant) error {
	switch j.State {
	case Waiting:
		j.finish(Cancelled, reason.None, now)
	case Running:
		j.Stop = true
	case Unknown:
		return ErrUnknown
	default:
		return ErrOver
	}
	return nil
}

// Resolve ends what is unknown by evidence from outside: either it never ran, and waits
// again, or it ran and is over.
func (j *Job) Resolve(attempt int64, now unit.Instant, notStarted bool) error {
	if err := j.about(attempt); err != nil {
		return err
	}
	switch {
	case j.State != Unknown:
		return ErrEarly
	case notStarted && j.Inline:
		j.finish(Freed, reason.Unknown, now)
	case notStarted && !j.Stop:
		j.State, j.Due = Waiting, now
	case notStarted:
		j.finish(Cancelled, reason.Unknown, now)
	default:
		j.finish(Done, reason.Unknown, now)
	}
	return nil
}

// Over reports whether a job whose end has been known for so long may be forgotten, and
// its key with it. What is not final never may.
func (j *Job) Over(before unit.Instant) bool { return j.State.Final() && j.Ended < before }

// about returns why nothing can be said of this attempt, or nil.
func (j *Job) about(attempt int64) error {
	switch {
	case j.State.Final():
		return ErrOver
	case attempt != j.Attempt:
		return ErrStale
	case j.State == Waiting:
		return ErrEarly
	}
	return nil
}

func (j *Job) finish(s State, why reason.Reason, now unit.Instant) {
	j.State, j.Why, j.Ended, j.Due = s, why, now, 0
}
