package postgres

import (
	"github.com/jackc/pgx/v5"

	"github.com/spillway-dev/spillway/ledger"
	"github.com/spillway-dev/spillway/policy/job"
	"github.com/spillway-dev/spillway/policy/unit"
)

// eachJob calls f with the jobs that a query answers.
func (r *rows) eachJob(query string, f func(ledger.Job) error, args ...any) error {
	found, err := r.tx.Query(r.ctx, query, args...)
	if err != nil {
		return err
	}
	defer found.Close()
	for found.Next() {
		j, err := scanJob(found)
		if err != nil {
			return err
		}
		if err := f(j); err != nil {
			return err
		}
	}
	return found.Err()
}

func (r *rows) eachLine(query string, f func(ledger.LineName, job.Line) error, args ...any) error {
	found, err := r.tx.Query(r.ctx, query, args...)
	if err != nil {
		return err
	}
	defer found.Close()
	for found.Next() {
		var n ledger.LineName
		var l job.Line
		var of int64
		if err := found.Scan(&of, &n.Class, &n.Tenant, &l.Waiting, &l.Open, &l.Bytes); err != nil {
			return err
		}
		n.Of, n.Class, n.Tenant = ledger.LineOf(of), asStored(n.Class), asStored(n.Tenant)
		if err := f(n, l); err != nil {
			return err
		}
	}
	return found.Err()
}

// Due returns jobs of a tenant that wait and are due.
func (r *rows) Due(class, tenant string, by unit.Instant, n int) (due []ledger.Job, err error) {
	err = r.eachJob("SELECT "+jobFields+" FROM spillway_jobs WHERE state = 0 AND class = $1 AND tenant = $2 AND due <= $3 ORDER BY due, id LIMIT $4", func(j ledger.Job) error {
		due = append(due, j)
		return nil
	}, storable(class), storable(tenant), int64(by), n)
	return due, err
}

// FirstDue returns when the first job of a class is due.
func (r *rows) FirstDue(class string) (at unit.Instant, err error) {
	err = r.tx.QueryRow(r.ctx, "SELECT due FROM spillway_jobs WHERE state = 0 AND class = $1 ORDER BY due LIMIT 1", storable(class)).Scan(&at)
	if err == pgx.ErrNoRows {
		return unit.Never, nil
	}
	return at, err
}

// Tenants returns tenants of whom something waits.
func (r *rows) Tenants(class, after string, n int) ([]string, error) {
	return r.texts("SELECT tenant FROM spillway_lines WHERE of = 2 AND waiting > 0 AND class = $1 AND (tenant > $2 OR $2 = '') ORDER BY tenant LIMIT $3", storable(class), storable(after), n)
}

// Jobs lists jobs, newest first.
func (r *rows) Jobs(f ledger.Filter, n int) (found []ledger.Job, more string, err error) {
	page := ledger.Page{Filter: f, Most: n}
	where, args := "", []any{storable(f.Before()), ledger.ScanMost}
	switch {
	case f.Tenant != "":
		where, args = "tenant = $3 AND ", append(args, storable(f.Tenant))
	case f.State != nil:
		where, args = "state = $3 AND ", append(args, int64(*f.State))
	}
	err = r.eachJob("SELECT "+jobFields+" FROM spillway_jobs WHERE "+where+"id < $1 ORDER BY id DESC LIMIT $2", page.Look, args...)
	return page.Found(err)
}

// OwnedJobs calls f with every job that runs.
func (r *rows) OwnedJobs(f func(ledger.Job) error) error {
	return r.eachJob("SELECT "+jobFields+" FROM spillway_jobs WHERE state = 1 ORDER BY id", f)
}

// AllJobs calls f with every job.
func (r *rows) AllJobs(f func(ledger.Job) error) error {
	return r.eachJob("SELECT "+jobFields+" FROM spillway_jobs ORDER BY id", f)
}

// Lines calls f with every line.
func (r *rows) Lines(f func(ledger.LineName, job.Line) error) error {
	return r.eachLine("SELECT "+lineFields+" FROM spillway_lines ORDER BY of, class, tenant", f)
}

// JobsLate returns jobs that wait although their deadline has passed.
func (r *rows) JobsLate(by unit.Instant, n int) ([]string, error) {
	return r.texts("SELECT id FROM spillway_jobs WHERE state = 0 AND deadline <= $1 ORDER BY deadline LIMIT $2", int64(by), n)
}

// JobsOver returns jobs whose end was known before then.
func (r *rows) JobsOver(before unit.Instant, n int) ([]string, error) {
	return r.texts("SELECT id FROM spillway_jobs WHERE state >= 3 AND ended < $1 ORDER BY ended LIMIT $2", int64(before), n)
}

// JobsToTell returns jobs whose end is to be told by then.
func (r *rows) JobsToTell(by unit.Instant, n int) ([]string, error) {
	return r.texts("SELECT id FROM spillway_jobs WHERE tell <> 0 AND tell <= $1 ORDER BY tell LIMIT $2", int64(by), n)
}

func (r *rows) texts(query string, args ...any) ([]string, error) {
	found, err := r.tx.Query(r.ctx, query, args...)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(found, func(row pgx.CollectableRow) (s string, err error) {
		err = row.Scan(&s)
		return asStored(s), err
	})
}

// Job returns a job.
func (r *looked) Job(id string) (j ledger.Job, there bool, err error) {
	if err := r.loadJobs(ledger.Touches{Jobs: []string{id}}); err != nil {
		return j, false, err
	}
	return r.rows.Job(id)
}

// KeyHolder returns the job that has the key.
func (r *looked) KeyHolder(key string) (j ledger.Job, there bool, err error) {
	if err := r.loadJobs(ledger.Touches{Keys: []string{key}}); err != nil {
		return j, false, err
	}
	return r.rows.KeyHolder(key)
}

// Line returns a line.
func (r *looked) Line(n ledger.LineName) (l job.Line, err error) {
	if err := r.loadJobs(ledger.Touches{Lines: []ledger.LineName{n}}); err != nil {
		return l, err
	}
	return r.rows.Line(n)
}
