package sqlite

import (
	"bytes"

	"github.com/ncruces/go-sqlite3"

	"github.com/spillway-dev/spillway/ledger"
	"github.com/spillway-dev/spillway/policy/job"
	"github.com/spillway-dev/spillway/policy/quota"
	"github.com/spillway-dev/spillway/policy/reason"
	"github.com/spillway-dev/spillway/policy/unit"
)

// blob is bound as what it is and not as text.
type blob []byte

// Flags of a job's row.
const (
	flagHarmless = 1 << iota
	flagInline
	flagStop
)

// Job returns a job.
func (c *conn) Job(id string) (ledger.Job, bool, error) { return c.oneJob(getJob, id) }

// KeyHolder returns the job that has the key.
func (c *conn) KeyHolder(key string) (ledger.Job, bool, error) { return c.oneJob(getKey, key) }

func (c *conn) oneJob(query string, args ...any) (j ledger.Job, there bool, err error) {
	there, err = c.rows(query, func(s *sqlite3.Stmt) error {
		j = readJob(s)
		return nil
	}, args...)
	return j, there, err
}

func readJob(s *sqlite3.Stmt) (j ledger.Job) {
	j.ID, j.Class, j.Tenant = s.ColumnText(0), s.ColumnText(1), s.ColumnText(2)
	j.State, j.Attempt = job.State(s.ColumnInt64(3)), s.ColumnInt64(4)
	j.Due, j.Deadline, j.Ended = unit.Instant(s.ColumnInt64(5)), unit.Instant(s.ColumnInt64(6)), unit.Instant(s.ColumnInt64(7))
	flags := s.ColumnInt64(8)
	j.Harmless, j.Inline, j.Stop = flags&flagHarmless != 0, flags&flagInline != 0, flags&flagStop != 0
	j.Why = reason.Reason(s.ColumnInt64(9))
	j.Key, j.Print, j.Owner, j.Cost, j.Bytes = s.ColumnText(10), s.ColumnText(11), s.ColumnText(12), s.ColumnInt64(13), s.ColumnInt64(14)
	j.Accepted = quota.Time{Run: unit.Instant(s.ColumnInt64(15)), Wall: unit.Instant(s.ColumnInt64(16))}
	j.Status, j.Kept, j.Evidence = s.ColumnInt64(17), s.ColumnBool(18), s.ColumnText(19)
	j.Webhook, j.Told, j.TellAt = s.ColumnText(20), s.ColumnInt64(21), unit.Instant(s.ColumnInt64(22))
	j.By = s.ColumnText(23)
	return j
}

// SetJob writes a job.
func (c *conn) SetJob(j ledger.Job) error {
	flags := number(j.Harmless)*flagHarmless | number(j.Inline)*flagInline | number(j.Stop)*flagStop
	return c.exec(putJob, j.ID, j.Class, j.Tenant, int64(j.State), j.Attempt, int64(j.Due), int64(j.Deadline), int64(j.Ended), flags, int64(j.Why),
		j.Key, j.Print, j.Owner, j.Cost, j.Bytes, int64(j.Accepted.Run), int64(j.Accepted.Wall), j.Status, number(j.Kept), j.Evidence,
		j.Webhook, j.Told, int64(j.TellAt), j.By)
}

func number(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

// RemoveJob removes a job with its messages.
func (c *conn) RemoveJob(id string) error {
	if err := c.exec(deleteMessages, id); err != nil {
		return err
	}
	return c.exec(deleteJob, id)
}

// Message returns a message of a job.
func (c *conn) Message(id string, p ledger.Part) (m ledger.Message, there bool, err error) {
	there, err = c.rows(getMessage, func(s *sqlite3.Stmt) error {
		m = ledger.Message{Head: bytes.Clone(s.ColumnRawBlob(0)), Body: bytes.Clone(s.ColumnRawBlob(1))}
		return nil
	}, id, int64(p))
	return m, there, err
}

// SetMessage writes a message of a job.
func (c *conn) SetMessage(id string, p ledger.Part, m ledger.Message) error {
	return c.exec(putMessage, id, int64(p), blob(m.Head), blob(m.Body))
}

// DropMessage removes a message of a job.
func (c *conn) DropMessage(id string, p ledger.Part) error {
	return c.exec(deleteMessage, id, int64(p))
}

// Line returns a line.
func (c *conn) Line(n ledger.LineName) (l job.Line, err error) {
	_, err = c.rows(getLine, func(s *sqlite3.Stmt) error {
		l = readLine(s, 0)
		return nil
	}, int64(n.Of), n.Class, n.Tenant)
	return l, err
}

func readLine(s *sqlite3.Stmt, from int) job.Line {
	return job.Line{Waiting: s.ColumnInt64(from), Open: s.ColumnInt64(from + 1), Bytes: s.ColumnInt64(from + 2)}
}

// SetLine writes a line, or removes one that counts nothing, so that tenants of whom
// nothing is left leave nothing.
func (c *conn) SetLine(n ledger.LineName, l job.Line) error {
	if l == (job.Line{}) {
		return c.exec(deleteLine, int64(n.Of), n.Class, n.Tenant)
	}
	return c.exec(putLine, int64(n.Of), n.Class, n.Tenant, l.Waiting, l.Open, l.Bytes)
}

// Lines calls f with every line.
func (c *conn) Lines(f func(ledger.LineName, job.Line) error) error {
	_, err := c.rows(allLines, func(s *sqlite3.Stmt) error {
		return f(ledger.LineName{Of: ledger.LineOf(s.ColumnInt64(0)), Class: s.ColumnText(1), Tenant: s.ColumnText(2)}, readLine(s, 3))
	})
	return err
}

// Due returns jobs of a tenant that wait and are due.
func (c *conn) Due(class, tenant string, by unit.Instant, n int) (due []ledger.Job, err error) {
	err = c.jobs(dueJobs, func(j ledger.Job) error {
		due = append(due, j)
		return nil
	}, class, tenant, int64(by), int64(n))
	return due, err
}

// FirstDue returns when the first job of a class is due.
func (c *conn) FirstDue(class string) (at unit.Instant, err error) {
	at = unit.Never
	_, err = c.rows(firstDue, func(s *sqlite3.Stmt) error {
		at = unit.Instant(s.ColumnInt64(0))
		return nil
	}, class)
	return at, err
}

// Tenants returns tenants of whom something waits.
func (c *conn) Tenants(class, after string, n int) ([]string, error) {
	if after == "" { // the tenant without a name is the first
		names, err := c.texts("SELECT tenant FROM lines WHERE of = 2 AND waiting > 0 AND class = ? AND tenant = ''", class)
		if err != nil || n == len(names) {
			return names, err
		}
		more, err := c.texts(lineTenants, class, after, int64(n-len(names)))
		return append(names, more...), err
	}
	return c.texts(lineTenants, class, after, int64(n))
}

// Jobs lists jobs, newest first.
func (c *conn) Jobs(f ledger.Filter, n int) (found []ledger.Job, last string, err error) {
	page := ledger.Page{Filter: f, Most: n}
	query, args := listJobs, []any{f.Before(), int64(ledger.ScanMost)}
	switch {
	case f.Tenant != "":
		query, args = listTenant, append([]any{f.Tenant}, args...)
	case f.State != nil:
		query, args = listState, append([]any{int64(*f.State)}, args...)
	}
	err = c.jobs(query, page.Look, args...)
	found, last, err = page.Found(err)
	return found, last, err
}

// OwnedJobs calls f with every job that runs.
func (c *conn) OwnedJobs(f func(ledger.Job) error) error { return c.jobs(runningJobs, f) }

// AllJobs calls f with every job.
func (c *conn) AllJobs(f func(ledger.Job) error) error { return c.jobs(everyJob, f) }

func (c *conn) jobs(query string, f func(ledger.Job) error, args ...any) error {
	_, err := c.rows(query, func(s *sqlite3.Stmt) error { return f(readJob(s)) }, args...)
	return err
}

// JobsLate returns jobs that wait although their deadline has passed.
func (c *conn) JobsLate(by unit.Instant, n int) ([]string, error) {
	return c.texts(lateJobs, int64(by), int64(n))
}

// JobsOver returns jobs whose end was known before then.
func (c *conn) JobsOver(before unit.Instant, n int) ([]string, error) {
	return c.texts(overJobs, int64(before), int64(n))
}

// JobsToTell returns jobs whose end is to be told by then.
func (c *conn) JobsToTell(by unit.Instant, n int) ([]string, error) {
	return c.texts(jobsToTell, int64(by), int64(n))
}

func (c *conn) texts(query string, args ...any) (all []string, err error) {
	_, err = c.rows(query, func(s *sqlite3.Stmt) error {
		all = append(all, s.ColumnText(0))
		return nil
	}, args...)
	return all, err
}
