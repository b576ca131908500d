package ledger

import (
	"context"

	"github.com/spillway-dev/spillway/policy/job"
	"github.com/spillway-dev/spillway/policy/unit"
)

// ListMost bounds how many jobs are listed at once.
const ListMost = 1000

// FindJob returns a job, and ErrNoJob if there is none.
func (l *Ledger) FindJob(ctx context.Context, id string) (j Job, err error) {
	err = l.store.View(ctx, func(r Rows) (err error) {
		j, err = found(r.Job(id))
		return err
	})
	return j, err
}

// FindKey returns the job that has the key, and ErrNoJob if none has.
func (l *Ledger) FindKey(ctx context.Context, key string) (j Job, err error) {
	err = l.store.View(ctx, func(r Rows) (err error) {
		j, err = found(r.KeyHolder(key))
		return err
	})
	return j, err
}

func found(j Job, there bool, err error) (Job, error) {
	if err == nil && !there {
		err = ErrNoJob
	}
	return j, err
}

// MessageOf returns a message of a job, and false where there is none.
func (l *Ledger) MessageOf(ctx context.Context, id string, p Part) (m Message, there bool, err error) {
	err = l.store.View(ctx, func(r Rows) (err error) {
		m, there, err = r.Message(id, p)
		return err
	})
	return m, there, err
}

// Jobs lists up to n jobs, newest first, at most ListMost. More says after which id to go
// on, "" where that was all.
func (l *Ledger) Jobs(ctx context.Context, f Filter, n int) (all []Job, more string, err error) {
	err = l.store.View(ctx, func(r Rows) (err error) {
		all, more, err = r.Jobs(f, min(max(n, 1), ListMost))
		return err
	})
	return all, more, err
}

// Due returns up to n jobs of a tenant that may be started now, in their order.
func (l *Ledger) Due(ctx context.Context, class, tenant string, n int) (due []Job, err error) {
	err = l.store.View(ctx, func(r Rows) (err error) {
		due, err = r.Due(class, tenant, r.Time().Run, n)
		return err
	})
	return due, err
}

// Backlog is what waits of a class.
type Backlog struct {
	job.Line
	// First is when the first job is due, unit.Never where none waits, and Now the store's
	// time.
	First, Now unit.Instant
}

// Backlog returns what waits of a class.
func (l *Ledger) Backlog(ctx context.Context, class string) (b Backlog, err error) {
	err = l.store.View(ctx, func(r Rows) (err error) {
		b.Now = r.Time().Run
		if b.Line, err = r.Line(LineName{Of: OfClass, Class: class}); err != nil {
			return err
		}
		b.First, err = r.FirstDue(class)
		return err
	})
	return b, err
}

// Tenants returns up to n tenants of a class of whom something waits, in order of name
// after the one given.
func (l *Ledger) Tenants(ctx context.Context, class, after string, n int) (names []string, err error) {
	err = l.store.View(ctx, func(r Rows) (err error) {
		names, err = r.Tenants(class, after, n)
		return err
	})
	return names, err
}

// ToTell returns up to n jobs whose end is to be told now.
func (l *Ledger) ToTell(ctx context.Context, n int) (jobs []Job, err error) {
	err = l.store.View(ctx, func(r Rows) error {
		jobs = jobs[:0]
		ids, err := r.JobsToTell(r.Time().Run, n)
		for _, id := range ids {
			j, there, err := r.Job(id)
			if err != nil {
				return err
			}
			if there {
				jobs = append(jobs, j)
			}
		}
		return err
	})
	return jobs, err
}
