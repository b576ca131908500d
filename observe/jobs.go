package observe

import (
	"time"

	"github.com/spillway-dev/spillway/policy/job"
)

// Jobs is what is known at a scrape of a class's jobs.
type Jobs struct {
	Class string
	job.Line
	Known bool // the ledger has answered: Line and Oldest are true
	// Oldest is for how long the first job has been due.
	Oldest                               time.Duration
	Accepted, Replayed, Started, Refused int64
	Ended                                [job.Freed + 1]int64 // by job.State, what an attempt left the job in
}

var (
	perJobClass = []string{"class"}

	jobsWaiting  = Definition{"spillway_jobs_waiting", "gauge", perJobClass, "Jobs that wait for their turn, or to be tried again. Of all gateways on the ledger."}
	jobsOpen     = Definition{"spillway_jobs_open", "gauge", perJobClass, "Jobs without an end: those that wait, run or are unknown. Of all gateways on the ledger."}
	jobsBytes    = Definition{"spillway_jobs_bytes", "gauge", perJobClass, "What they hold on disk, requests that are to be made and answers that are kept. Of all gateways on the ledger."}
	jobsOldest   = Definition{"spillway_jobs_oldest_seconds", "gauge", perJobClass, "For how long the first job has been due."}
	jobsAccepted = Definition{"spillway_jobs_accepted_total", "counter", perJobClass, "Jobs that were accepted (202)."}
	jobsReplayed = Definition{"spillway_keys_replayed_total", "counter", perJobClass, "Requests whose idempotency key was there, and that were answered by what it says."}
	jobsStarted  = Definition{"spillway_jobs_started_total", "counter", perJobClass, "Attempts of jobs that were started."}
	jobsRefused  = Definition{"spillway_jobs_refused_total", "counter", perJobClass, "Offers of jobs for which their class had no room; they are offered again."}
	jobsEnded    = Definition{"spillway_jobs_ended_total", "counter", []string{"class", "state"}, "Attempts that have ended, of jobs and of requests with a key, by the state in which that left the job. The rate of done is how fast the backlog is worked off."}
)

func (s sink) jobs(all []Jobs) {
	for i := range all {
		j := &all[i]
		if j.Known {
			s.add(&jobsWaiting, float64(j.Waiting), j.Class)
			s.add(&jobsOpen, float64(j.Open), j.Class)
			s.add(&jobsBytes, float64(j.Bytes), j.Class)
			s.add(&jobsOldest, j.Oldest.Seconds(), j.Class)
		}
		s.add(&jobsAccepted, float64(j.Accepted), j.Class)
		s.add(&jobsReplayed, float64(j.Replayed), j.Class)
		s.add(&jobsStarted, float64(j.Started), j.Class)
		s.add(&jobsRefused, float64(j.Refused), j.Class)
		for state, n := range j.Ended {
			if state := job.State(state); state != job.Running {
				s.add(&jobsEnded, float64(n), j.Class, state.String())
			}
		}
	}
}
