package postgres

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"

	"github.com/spillway-dev/spillway/ledger"
	"github.com/spillway-dev/spillway/policy/quota"
	"github.com/spillway-dev/spillway/policy/unit"
)

// rows is what a transaction sees: rows that were loaded together, and those that
// are to be written together at its end.
type rows struct {
	ctx     context.Context
	tx      pgx.Tx
	lock    string // appended to what loads rows
	now     quota.Time
	budgets map[string]*budget
	calls   map[ledger.Key]*call
	jobRows
}

type budget struct {
	quota.Budget
	there, changed bool // there: in the database
}

type call struct {
	ledger.Call
	there, changed bool
}

const (
	budgetFields = "name, unit, most, refill, every, period, zone, refund, remaining, part, held, spent, at, frees"
	callFields   = "id, attempt, state, tenant, owner, taken, used, budgets, charged, run, wall, evidence"
)

// load locks and loads what is touched: attempts in the order of their keys, then
// budgets in the order of their names, so that no two transactions wait for each
// other.
func (r *rows) load(t ledger.Touches) error {
	names := map[string]bool{}
	for _, name := range t.Budgets {
		names[name] = true
	}
	if len(t.Calls) > 0 {
		ids, attempts := make([]string, len(t.Calls)), make([]int64, len(t.Calls))
		for i, k := range t.Calls {
			ids[i], attempts[i] = storable(k.ID), k.Attempt
			r.calls[k] = &call{}
		}
		err := r.each("SELECT "+callFields+" FROM spillway_calls WHERE (id, attempt) IN (SELECT * FROM unnest($1::text[], $2::bigint[])) ORDER BY id, attempt"+r.lock, func(c ledger.Call) error {
			r.calls[ledger.Key{ID: c.ID, Attempt: c.Attempt}] = &call{Call: c, there: true}
			for _, name := range c.Budgets {
				names[name] = true
			}
			return nil
		}, ids, attempts)
		if err != nil {
			return err
		}
	}
	if len(names) == 0 {
		return r.loadJobs(t)
	}
	ordered := slices.Sorted(maps.Keys(names))
	stored := make([]string, len(ordered))
	for i, name := range ordered {
		stored[i] = storable(name)
		r.budgets[name] = &budget{}
	}
	err := r.eachBudget("SELECT "+budgetFields+" FROM spillway_budgets WHERE name = ANY($1) ORDER BY name"+r.lock, func(name string, b quota.Budget) error {
		loaded := &budget{Budget: b, there: true}
		if !b.Limit.Windowed() && b.At > r.now.Run { // the database's clock was set back
			loaded.At, loaded.changed = r.now.Run, true
		}
		r.budgets[name] = loaded
		return nil
	}, stored)
	if err != nil {
		return err
	}
	return r.loadJobs(t)
}

// Time returns when the transaction happens.
func (r *rows) Time() quota.Time { return r.now }

// Budget returns a budget.
func (r *rows) Budget(name string) (quota.Budget, bool, error) {
	b := r.budgets[name]
	if b == nil {
		return quota.Budget{}, false, fmt.Errorf("budget %q was not said to be touched", name)
	}
	return b.Budget, b.there || b.changed, nil
}

// SetBudget has a budget written at the end.
func (r *rows) SetBudget(name string, b quota.Budget) error {
	was := r.budgets[name]
	if was == nil {
		return fmt.Errorf("budget %q was not said to be touched", name)
	}
	was.Budget, was.changed = b, true
	return nil
}

// Call returns an attempt.
func (r *rows) Call(id string, attempt int64) (ledger.Call, bool, error) {
	c := r.calls[ledger.Key{ID: id, Attempt: attempt}]
	if c == nil {
		return ledger.Call{}, false, fmt.Errorf("call %q attempt %d was not said to be touched", id, attempt)
	}
	return c.Call, c.there || c.changed, nil
}

// SetCall has an attempt written at the end.
func (r *rows) SetCall(c ledger.Call) error {
	was := r.calls[ledger.Key{ID: c.ID, Attempt: c.Attempt}]
	if was == nil {
		return fmt.Errorf("call %q attempt %d was not said to be touched", c.ID, c.Attempt)
	}
	was.Call, was.changed = c, true
	return nil
}

// Open calls f with every attempt whose end is not known.
func (r *rows) Open(f func(ledger.Call) error) error {
	return r.each("SELECT "+callFields+" FROM spillway_calls WHERE state < 3 ORDER BY id, attempt", f)
}

// All calls f with every attempt.
func (r *rows) All(f func(ledger.Call) error) error {
	return r.each("SELECT "+callFields+" FROM spillway_calls ORDER BY id, attempt", f)
}

// Budgets calls f with every budget.
func (r *rows) Budgets(f func(string, quota.Budget) error) error {
	return r.eachBudget("SELECT "+budgetFields+" FROM spillway_budgets ORDER BY name", f)
}

// Swept is what the removed calls of a budget have cost it.
func (r *rows) Swept(name string) (n int64, err error) {
	err = r.tx.QueryRow(r.ctx, "SELECT swept FROM spillway_budgets WHERE name = $1", storable(name)).Scan(&n)
	return n, err
}

// Over returns attempts whose end has been known for long.
func (r *rows) Over(before unit.Instant, n int) ([]ledger.Key, error) {
	found, err := r.tx.Query(r.ctx, "SELECT id, attempt FROM spillway_calls WHERE state >= 3 AND wall < $1 ORDER BY wall LIMIT $2", int64(before), n)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(found, func(row pgx.CollectableRow) (k ledger.Key, err error) {
		err = row.Scan(&k.ID, &k.Attempt)
		k.ID = asStored(k.ID)
		return k, err
	})
}

// Remove removes an attempt.
func (r *rows) Remove(c ledger.Call) error {
	batch := &pgx.Batch{}
	for i, name := range c.Budgets {
		batch.Queue("UPDATE spillway_budgets SET swept = swept + $1 WHERE name = $2", c.Charged[i], storable(name))
	}
	batch.Queue("DELETE FROM spillway_calls WHERE id = $1 AND attempt = $2", storable(c.ID), c.Attempt)
	return r.tx.SendBatch(r.ctx, batch).Close()
}

// each calls f with the attempts that a query answers.
func (r *rows) each(query string, f func(ledger.Call) error, args ...any) error {
	found, err := r.tx.Query(r.ctx, query, args...)
	if err != nil {
		return err
	}
	all, err := pgx.CollectRows(found, readCall) // whole, since f may ask for more
	for _, c := range all {
		if err == nil {
			err = f(c)
		}
	}
	return err
}

func readCall(row pgx.CollectableRow) (c ledger.Call, err error) {
	var state int64
	var taken, used, budgets, charged string
	if err := row.Scan(&c.ID, &c.Attempt, &state, &c.Tenant, &c.Owner, &taken, &used, &budgets, &charged, &c.At.Run, &c.At.Wall, &c.Evidence); err != nil {
		return c, err
	}
	c.ID, c.Tenant, c.Owner, c.State = asStored(c.ID), asStored(c.Tenant), asStored(c.Owner), quota.State(state)
	for text, to := range map[*string]any{&taken: &c.Taken, &used: &c.Used, &budgets: &c.Budgets, &charged: &c.Charged} {
		if err := json.Unmarshal([]byte(*text), to); err != nil {
			return c, fmt.Errorf("call %s attempt %d: %w", c.ID, c.Attempt, err)
		}
	}
	if len(c.Budgets) != len(c.Charged) {
		return c, fmt.Errorf("call %s attempt %d: %d budgets and %d charges", c.ID, c.Attempt, len(c.Budgets), len(c.Charged))
	}
	return c, nil
}

// eachBudget calls f with the budgets that a query answers.
func (r *rows) eachBudget(query string, f func(string, quota.Budget) error, args ...any) error {
	type named struct {
		name string
		quota.Budget
	}
	found, err := r.tx.Query(r.ctx, query, args...)
	if err != nil {
		return err
	}
	all, err := pgx.CollectRows(found, func(row pgx.CollectableRow) (n named, err error) {
		var of, every, period int64
		var zone string
		l := &n.Limit
		if err := row.Scan(&n.name, &of, &l.Most, &l.Refill, &every, &period, &zone, &l.Refund, &n.Left, &n.Part, &n.Held, &n.Spent, &n.At, &n.Frees); err != nil {
			return n, err
		}
		n.name, l.Unit, l.Every, l.Window.Period = asStored(n.name), quota.Unit(of), time.Duration(every), quota.Period(period)
		if zone != "" {
			l.Window.Zone, err = time.LoadLocation(zone)
		}
		return n, err
	})
	for _, b := range all {
		if err == nil {
			err = f(b.name, b.Budget)
		}
	}
	return err
}

// write writes what has changed: new rows with plain inserts, so that two who make
// the same one are told of each other.
func (r *rows) write() error {
	batch := &pgx.Batch{}
	for _, name := range slices.Sorted(maps.Keys(r.budgets)) {
		if b := r.budgets[name]; b.changed {
			zone := ""
			if z := b.Limit.Window.Zone; z != nil {
				zone = z.String()
			}
			query := "INSERT INTO spillway_budgets (" + budgetFields + ") VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)"
			if b.there {
				query = "UPDATE spillway_budgets SET unit = $2, most = $3, refill = $4, every = $5, period = $6, zone = $7, refund = $8, remaining = $9, part = $10, held = $11, spent = $12, at = $13, frees = $14 WHERE name = $1"
			}
			batch.Queue(query, storable(name), int64(b.Limit.Unit), b.Limit.Most, b.Limit.Refill, int64(b.Limit.Every), int64(b.Limit.Window.Period), zone,
				b.Limit.Refund, b.Left, b.Part, b.Held, b.Spent, int64(b.At), int64(b.Frees))
		}
	}
	for _, k := range slices.SortedFunc(maps.Keys(r.calls), compareKeys) {
		if c := r.calls[k]; c.changed {
			lists, err := encode(c.Taken, c.Used, c.Budgets, c.Charged)
			if err != nil {
				return err
			}
			if c.there {
				batch.Queue("UPDATE spillway_calls SET state = $3, used = $4, charged = $5, evidence = $6 WHERE id = $1 AND attempt = $2",
					storable(c.ID), c.Attempt, int64(c.State), lists[1], lists[3], storable(c.Evidence))
				continue
			}
			batch.Queue("INSERT INTO spillway_calls ("+callFields+") VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)",
				storable(c.ID), c.Attempt, int64(c.State), storable(c.Tenant), storable(c.Owner), lists[0], lists[1], lists[2], lists[3],
				int64(c.At.Run), int64(c.At.Wall), storable(c.Evidence))
		}
	}
	r.writeJobs(batch)
	return r.tx.SendBatch(r.ctx, batch).Close()
}

func compareKeys(a, b ledger.Key) int {
	if c := strings.Compare(a.ID, b.ID); c != 0 {
		return c
	}
	return int(min(max(a.Attempt-b.Attempt, -1), 1))
}

func encode(values ...any) ([]string, error) {
	lists := make([]string, len(values))
	for i, v := range values {
		b, err := json.Marshal(v)
		if err != nil {
			return nil, err
		}
		lists[i] = string(b)
	}
	return lists, nil
}

// storable is a text as PostgreSQL takes it: what is no UTF-8, and the byte 0, which
// it has in no text, are written as escapes. asStored is the text again.
func storable(s string) string {
	if utf8.ValidString(s) && !strings.ContainsAny(s, "\x00\\") {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == 0 || c == '\\' || c >= 0x80:
			fmt.Fprintf(&b, `\x%02x`, c)
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}

func asStored(s string) string {
	if !strings.Contains(s, `\x`) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		var c byte
		if n, _ := fmt.Sscanf(s[i:min(i+4, len(s))], `\x%02x`, &c); n == 1 {
			b.WriteByte(c)
			i += 3
			continue
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// at is the database's clock as both of a store's.
func at(wall time.Time) quota.Time {
	t := unit.Instant(wall.UnixNano())
	return quota.Time{Run: t, Wall: t}
}
