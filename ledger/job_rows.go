package ledger

import (
	"fmt"

	"github.com/spillway-dev/spillway/policy/job"
	"github.com/spillway-dev/spillway/policy/unit"
)

// LineName says whose jobs a line counts: those of a tenant of a class, of a class, or
// all.
type LineName struct {
	Of            LineOf
	Class, Tenant string
}

// LineOf is how much a line takes in.
type LineOf uint8

// The lines.
const (
	OfAll LineOf = iota
	OfClass
	OfTenant
)

// String names it for whoever reads of it.
func (n LineName) String() string {
	switch n.Of {
	case OfClass:
		return fmt.Sprintf("the jobs of class %s", n.Class)
	case OfTenant:
		return fmt.Sprintf("the jobs of tenant %q of class %s", n.Tenant, n.Class)
	}
	return "all jobs"
}

// LinesOf names the lines that a job is counted in, widest first.
func LinesOf(class, tenant string) []LineName {
	return []LineName{{Of: OfAll}, {Of: OfClass, Class: class}, {OfTenant, class, tenant}}
}

// Filter says which jobs are asked for. What is empty is not asked for.
type Filter struct {
	Class, Tenant string
	State         *job.State
	// After is the id after which to go on, newest first: of those before it.
	After string
	// Inline: requests whose callers wait or waited for their answer are asked for too.
	Inline bool
}

// JobRows is what a transaction sees of jobs.
type JobRows interface {
	// Job returns a job, and false if there is none; KeyHolder the one that has the key.
	Job(id string) (Job, bool, error)
	KeyHolder(key string) (Job, bool, error)
	SetJob(j Job) error
	// RemoveJob removes a job with its messages.
	RemoveJob(id string) error
	Message(id string, p Part) (Message, bool, error)
	SetMessage(id string, p Part, m Message) error
	DropMessage(id string, p Part) error
	// Line returns a line, of zeros where there is none.
	Line(name LineName) (job.Line, error)
	SetLine(name LineName, l job.Line) error

	// What follows is for a View. Due returns up to n jobs of a tenant that wait and are
	// due by then, those first that are due first; FirstDue when the first of a class is
	// due, unit.Never if none waits.
	Due(class, tenant string, by unit.Instant, n int) ([]Job, error)
	FirstDue(class string) (unit.Instant, error)
	// Tenants returns up to n tenants of a class, at least 2, in order of name after the
	// one given ("": from the first), of whom something waits.
	Tenants(class, after string, n int) ([]string, error)
	// Jobs returns up to n jobs, newest first, and the Filter.After of what may be more. It
	// looks at ScanMost rows at most: what is rare is found over several pages.
	Jobs(f Filter, n int) (found []Job, more string, err error)
	// OwnedJobs calls f with every job that runs, in order of id.
	OwnedJobs(f func(Job) error) error
	// JobsLate returns up to n ids of jobs that wait although their deadline has passed;
	// JobsOver of those whose end was known before then; JobsToTell of those whose end is
	// to be told by then.
	JobsLate(by unit.Instant, n int) ([]string, error)
	JobsOver(before unit.Instant, n int) ([]string, error)
	JobsToTell(by unit.Instant, n int) ([]string, error)
	// AllJobs calls f with every job and Lines with every line; f asks for nothing.
	AllJobs(f func(Job) error) error
	Lines(f func(LineName, job.Line) error) error
}
