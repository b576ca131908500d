package postgres

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/spillway-dev/spillway/ledger"
	"github.com/spillway-dev/spillway/policy/job"
)

// jobRows is what of jobs a transaction has loaded, and is to write at its end.
type jobRows struct {
	jobs     map[string]*jobRow
	keys     map[string]string // the id of whose a key is, "" of nobody's
	lines    map[ledger.LineName]*lineRow
	messages map[part]*ledger.Message // set, or nil: dropped
}

type jobRow struct {
	ledger.Job
	stored, there, changed bool // stored: in the database; there: as far as this transaction goes
}

type lineRow struct {
	job.Line
	stored, changed bool
}

type part struct {
	job string
	ledger.Part
}

func newJobRows() jobRows {
	return jobRows{map[string]*jobRow{}, map[string]string{}, map[ledger.LineName]*lineRow{}, map[part]*ledger.Message{}}
}

// loadJobs locks and loads the jobs that are touched, in order of id, and then the lines
// that they are counted in, in the order of their names.
func (r *rows) loadJobs(t ledger.Touches) error {
	for _, name := range t.Lines {
		r.lines[name] = &lineRow{}
	}
	if len(t.Jobs)+len(t.Keys) > 0 {
		for _, id := range t.Jobs {
			r.jobs[id] = &jobRow{}
		}
		for _, key := range t.Keys {
			r.keys[key] = ""
		}
		err := r.eachJob("SELECT "+jobFields+" FROM spillway_jobs WHERE id = ANY($1) OR idem <> '' AND idem = ANY($2) ORDER BY id"+r.lock, func(j ledger.Job) error {
			r.jobs[j.ID] = &jobRow{Job: j, stored: true, there: true}
			if j.Key != "" {
				r.keys[j.Key] = j.ID
			}
			for _, name := range ledger.LinesOf(j.Class, j.Tenant) {
				r.lines[name] = &lineRow{}
			}
			return nil
		}, stored(t.Jobs), stored(t.Keys))
		if err != nil {
			return err
		}
	}
	return r.loadLines()
}

func stored(all []string) []string {
	s := make([]string, len(all))
	for i, text := range all {
		s[i] = storable(text)
	}
	return s
}

func (r *rows) loadLines() error {
	if len(r.lines) == 0 {
		return nil
	}
	var of []int64
	var classes, tenants []string
	for _, n := range slices.SortedFunc(maps.Keys(r.lines), compareLines) {
		of, classes, tenants = append(of, int64(n.Of)), append(classes, storable(n.Class)), append(tenants, storable(n.Tenant))
	}
	return r.eachLine("SELECT "+lineFields+" FROM spillway_lines WHERE (of, class, tenant) IN (SELECT * FROM unnest($1::bigint[], $2::text[], $3::text[])) ORDER BY of, class, tenant"+r.lock,
		func(n ledger.LineName, l job.Line) error {
			r.lines[n] = &lineRow{Line: l, stored: true}
			return nil
		}, of, classes, tenants)
}

func compareLines(a, b ledger.LineName) int {
	return cmp.Or(cmp.Compare(a.Of, b.Of), strings.Compare(a.Class, b.Class), strings.Compare(a.Tenant, b.Tenant))
}

// Job returns a job.
func (r *rows) Job(id string) (ledger.Job, bool, error) {
	j := r.jobs[id]
	if j == nil {
		return ledger.Job{}, false, fmt.Errorf("job %q was not said to be touched", id)
	}
	return j.Job, j.there, nil
}

// KeyHolder returns the job that has the key.
func (r *rows) KeyHolder(key string) (ledger.Job, bool, error) {
	id, said := r.keys[key]
	switch {
	case !said:
		return ledger.Job{}, false, fmt.Errorf("key %q was not said to be touched", key)
	case id == "":
		return ledger.Job{}, false, nil
	}
	return r.Job(id)
}

// SetJob has a job written at the end.
func (r *rows) SetJob(j ledger.Job) error {
	was := r.jobs[j.ID]
	if was == nil {
		return fmt.Errorf("job %q was not said to be touched", j.ID)
	}
	was.Job, was.there, was.changed = j, true, true
	if j.Key != "" {
		r.keys[j.Key] = j.ID
	}
	return nil
}

// RemoveJob has a job removed at the end, with its messages.
func (r *rows) RemoveJob(id string) error {
	was := r.jobs[id]
	if was == nil {
		return fmt.Errorf("job %q was not said to be touched", id)
	}
	if was.Key != "" {
		r.keys[was.Key] = ""
	}
	was.there, was.changed = false, true
	delete(r.messages, part{id, ledger.Request})
	delete(r.messages, part{id, ledger.Answer})
	return nil
}

// Message returns a message of a job.
func (r *rows) Message(id string, p ledger.Part) (m ledger.Message, there bool, err error) {
	if set, said := r.messages[part{id, p}]; said {
		if set == nil {
			return m, false, nil
		}
		return *set, true, nil
	}
	if j := r.jobs[id]; j != nil && !j.stored && j.changed {
		return m, false, nil // it is this transaction's
	}
	err = r.tx.QueryRow(r.ctx, "SELECT head, body FROM spillway_messages WHERE job = $1 AND part = $2", storable(id), int64(p)).Scan(&m.Head, &m.Body)
	if err == pgx.ErrNoRows {
		return m, false, nil
	}
	return m, err == nil, err
}

// SetMessage has a message written at the end.
func (r *rows) SetMessage(id string, p ledger.Part, m ledger.Message) error {
	r.messages[part{id, p}] = &m
	return nil
}

// DropMessage has a message removed at the end.
func (r *rows) DropMessage(id string, p ledger.Part) error {
	r.messages[part{id, p}] = nil
	return nil
}

// Line returns a line.
func (r *rows) Line(n ledger.LineName) (job.Line, error) {
	l := r.lines[n]
	if l == nil {
		return job.Line{}, fmt.Errorf("%v were not said to be touched", n)
	}
	return l.Line, nil
}

// SetLine has a line written at the end.
func (r *rows) SetLine(n ledger.LineName, l job.Line) error {
	was := r.lines[n]
	if was == nil {
		return fmt.Errorf("%v were not said to be touched", n)
	}
	was.Line, was.changed = l, true
	return nil
}

// writeJobs queues what has changed of jobs: first what goes, so that its keys are free
// for what comes.
func (r *rows) writeJobs(batch *pgx.Batch) {
	ids := slices.Sorted(maps.Keys(r.jobs))
	for _, id := range ids {
		if j := r.jobs[id]; j.changed && !j.there && j.stored {
			batch.Queue("DELETE FROM spillway_messages WHERE job = $1", storable(id))
			batch.Queue("DELETE FROM spillway_jobs WHERE id = $1", storable(id))
		}
	}
	for _, id := range ids {
		if j := r.jobs[id]; j.changed && j.there {
			queueJob(batch, &j.Job, j.stored)
		}
	}
	for _, p := range slices.SortedFunc(maps.Keys(r.messages), func(a, b part) int {
		return cmp.Or(strings.Compare(a.job, b.job), cmp.Compare(a.Part, b.Part))
	}) {
		if m := r.messages[p]; m == nil {
			batch.Queue("DELETE FROM spillway_messages WHERE job = $1 AND part = $2", storable(p.job), int64(p.Part))
		} else {
			batch.Queue("INSERT INTO spillway_messages (job, part, head, body) VALUES ($1, $2, $3, $4) ON CONFLICT (job, part) DO UPDATE SET head = $3, body = $4",
				storable(p.job), int64(p.Part), bytesOf(m.Head), bytesOf(m.Body))
		}
	}
	r.writeLines(batch)
}

// bytesOf is b, which is never NULL.
func bytesOf(b []byte) []byte {
	if b == nil {
		return []byte{}
	}
	return b
}

func (r *rows) writeLines(batch *pgx.Batch) {
	for _, n := range slices.SortedFunc(maps.Keys(r.lines), compareLines) {
		l := r.lines[n]
		args := []any{int64(n.Of), storable(n.Class), storable(n.Tenant), l.Waiting, l.Open, l.Bytes}
		switch {
		case !l.changed:
		case l.Line == (job.Line{}) && l.stored:
			batch.Queue("DELETE FROM spillway_lines WHERE of = $1 AND class = $2 AND tenant = $3", args[:3]...)
		case l.Line == (job.Line{}):
		case l.stored:
			batch.Queue("UPDATE spillway_lines SET waiting = $4, open = $5, bytes = $6 WHERE of = $1 AND class = $2 AND tenant = $3", args...)
		default:
			batch.Queue("INSERT INTO spillway_lines ("+lineFields+") VALUES ($1, $2, $3, $4, $5, $6)", args...)
		}
	}
}
