package jobs

import (
	"time"

	"github.com/spillway-dev/spillway/ledger"
	"github.com/spillway-dev/spillway/policy/job"
	"github.com/spillway-dev/spillway/policy/unit"
)

// State is a job as callers, operators and webhooks are shown it. What was asked and
// what was answered is not in it.
type State struct {
	ID       string    `json:"id"`
	Class    string    `json:"class"`
	Tenant   string    `json:"tenant,omitempty"`
	State    string    `json:"state"`
	Reason   string    `json:"reason,omitempty"` // of its end, or of its latest attempt's
	Attempts int64     `json:"attempts"`
	Accepted time.Time `json:"accepted"`
	// Deadline is until when it may be started, End when its end was known.
	Deadline  time.Time `json:"deadline,omitzero"`
	End       time.Time `json:"end,omitzero"`
	Status    int64     `json:"status,omitempty"` // that it was answered with
	Kept      bool      `json:"kept"`             // the answer is there
	Cancelled bool      `json:"cancelled,omitempty"`
	Evidence  string    `json:"evidence,omitempty"`
	Webhook   string    `json:"webhook,omitempty"`
	Told      int64     `json:"told,omitempty"`
}

// Shown is what is shown of a job. Its instants are placed on the calendar by when it was
// accepted.
func Shown(j *ledger.Job) State {
	accepted := time.Unix(0, int64(j.Accepted.Wall)).UTC()
	s := State{
		ID: j.ID, Class: j.Class, Tenant: j.Tenant, State: j.State.String(), Attempts: j.Attempt, Accepted: accepted,
		Status: j.Status, Kept: j.Kept, Cancelled: j.Stop, Evidence: j.Evidence, Webhook: j.Webhook, Told: j.Told,
	}
	if j.Why != 0 {
		s.Reason = j.Why.String()
	}
	if j.Deadline != unit.Never && j.State == job.Waiting {
		s.Deadline = accepted.Add(j.Deadline.Sub(j.Accepted.Run))
	}
	if j.State.Final() {
		s.End = accepted.Add(j.Ended.Sub(j.Accepted.Run))
	}
	return s
}
