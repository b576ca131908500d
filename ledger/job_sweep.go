package ledger

import (
	"context"
	"slices"
	"time"

	"github.com/spillway-dev/spillway/policy/job"
	"github.com/spillway-dev/spillway/policy/unit"
)

// OrphanJobs ends the attempts that the processes that dead reports have left running;
// what that means is policy/job's to say. rules are of a job's class. It returns how
// many were touched.
func (l *Ledger) OrphanJobs(ctx context.Context, dead func(owner string) bool, rules func(class string) job.Rules, why string) (n int, err error) {
	type orphan struct {
		id      string
		attempt int64
	}
	var left []orphan
	err = l.store.View(ctx, func(r Rows) error {
		left = left[:0]
		return r.OwnedJobs(func(j Job) error {
			if dead(j.Owner) {
				left = append(left, orphan{j.ID, j.Attempt})
			}
			return nil
		})
	})
	for part := range slices.Chunk(left, groupMost) {
		if err != nil {
			break
		}
		ids := make([]string, len(part))
		for i, o := range part {
			ids[i] = o.id
		}
		done := 0
		err = l.group.do(ctx, Touches{Jobs: ids}, func(r Rows) error {
			done = 0
			for _, o := range part {
				_, wrong, err := changeJob(r, o.id, func(_ Rows, j *Job, now unit.Instant) error {
					j.Evidence = cut(why)
					return j.Lost(o.attempt, now, rules(j.Class), &l.luck)
				})
				if err != nil {
					return err
				}
				if wrong == nil {
					done++
				}
			}
			return nil
		})
		n += done
	}
	return n, err
}

// ExpireJobs ends the jobs that wait although their deadline has passed, and returns how
// many.
func (l *Ledger) ExpireJobs(ctx context.Context) (int, error) {
	return l.inParts(ctx, func(r Rows) ([]string, error) { return r.JobsLate(r.Time().Run, groupMost) },
		func(r Rows, id string) (bool, error) {
			_, wrong, err := changeJob(r, id, func(_ Rows, j *Job, now unit.Instant) error {
				if !j.Expire(now) {
					return job.ErrEarly
				}
				return nil
			})
			return wrong == nil, err
		})
}

// SweepJobs forgets the jobs whose end has been known for longer than keep, with their
// answers and their keys, and returns how many. What has no end, and what is unknown,
// stays however old it is. It takes groupMost at a time, as Sweep does.
func (l *Ledger) SweepJobs(ctx context.Context, keep time.Duration) (int, error) {
	return l.inParts(ctx, func(r Rows) ([]string, error) { return r.JobsOver(r.Time().Run.Add(-keep), groupMost) },
		func(r Rows, id string) (bool, error) {
			j, there, err := r.Job(id)
			if err != nil || !there || !j.Over(r.Time().Run.Add(-keep)) {
				return false, err
			}
			gone := j
			gone.State = job.Freed
			return true, count(r, &j, &gone)
		})
}

// inParts does something to all jobs that find finds, a transaction for each groupMost of
// them, until it finds no more.
func (l *Ledger) inParts(ctx context.Context, find func(Rows) ([]string, error), do func(Rows, string) (bool, error)) (total int, err error) {
	for {
		var ids []string
		err := l.store.View(ctx, func(r Rows) (err error) {
			ids, err = find(r)
			return err
		})
		if err != nil || len(ids) == 0 {
			return total, err
		}
		n := 0
		err = l.group.do(ctx, Touches{Jobs: ids}, func(r Rows) error {
			n = 0
			for _, id := range ids {
				did, err := do(r, id)
				if err != nil {
					return err
				}
				if did {
					n++
				}
			}
			return nil
		})
		total += n
		if err != nil || n == 0 || len(ids) < groupMost {
			return total, err
		}
	}
}

// auditJobs adds every line up again from the jobs.
func auditJobs(r Rows, found *Report) error {
	is := map[LineName]job.Line{}
	err := r.AllJobs(func(j Job) error {
		found.Jobs++
		if j.State == job.Unknown {
			found.UnknownJobs++
		}
		for _, name := range LinesOf(j.Class, j.Tenant) {
			is[name] = is[name].Add(&j.Job, j.Bytes, 1)
		}
		return nil
	})
	if err != nil {
		return err
	}
	err = r.Lines(func(name LineName, says job.Line) error {
		found.line(name, says, is[name])
		delete(is, name)
		return nil
	})
	for name, line := range is { // of no row
		found.line(name, job.Line{}, line)
	}
	return err
}

func (f *Report) line(name LineName, says, is job.Line) {
	for _, w := range []Wrong{
		{Line: name.String(), Counter: "waiting", Says: says.Waiting, Is: is.Waiting},
		{Line: name.String(), Counter: "open", Says: says.Open, Is: is.Open},
		{Line: name.String(), Counter: "bytes", Says: says.Bytes, Is: is.Bytes},
	} {
		if w.Says != w.Is {
			f.Wrong = append(f.Wrong, w)
		}
	}
}
