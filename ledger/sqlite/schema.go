package sqlite

import "github.com/spillway-dev/spillway/internal/dbfile"

// kind is what the file is. Amounts and lists are JSON arrays, so that whoever looks
// with another program can read them.
var kind = dbfile.Kind{
	ID: 0x5350574c, Version: 4, // "SPWL"
	Damaged: "restore a copy: what is in a damaged ledger cannot be told from what was",
	Schema: `
CREATE TABLE IF NOT EXISTS clock (one INTEGER PRIMARY KEY CHECK (one = 1), run INTEGER NOT NULL, wall INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS budgets (
  name TEXT PRIMARY KEY, unit INTEGER NOT NULL, most INTEGER NOT NULL, refill INTEGER NOT NULL, every INTEGER NOT NULL,
  period INTEGER NOT NULL, zone TEXT NOT NULL, refund INTEGER NOT NULL, remaining INTEGER NOT NULL, part INTEGER NOT NULL,
  held INTEGER NOT NULL CHECK (held >= 0), spent INTEGER NOT NULL, at INTEGER NOT NULL, frees INTEGER NOT NULL,
  swept INTEGER NOT NULL DEFAULT 0
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS calls (
  id TEXT NOT NULL, attempt INTEGER NOT NULL, state INTEGER NOT NULL, tenant TEXT NOT NULL, owner TEXT NOT NULL,
  taken TEXT NOT NULL, used TEXT NOT NULL, budgets TEXT NOT NULL, charged TEXT NOT NULL,
  run INTEGER NOT NULL, wall INTEGER NOT NULL, evidence TEXT NOT NULL, PRIMARY KEY (id, attempt)
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS open ON calls (id, attempt) WHERE state < 3;
CREATE INDEX IF NOT EXISTS over ON calls (wall) WHERE state >= 3;
` + jobSchema + fleetSchema + leaseSchema,
}

// The statements of a connection, by what they do.
const (
	getBudget = "SELECT unit, most, refill, every, period, zone, refund, remaining, part, held, spent, at, frees FROM budgets WHERE name = ?"
	putBudget = `INSERT INTO budgets (unit, most, refill, every, period, zone, refund, remaining, part, held, spent, at, frees, name)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (name) DO UPDATE SET
		unit = ?1, most = ?2, refill = ?3, every = ?4, period = ?5, zone = ?6, refund = ?7,
		remaining = ?8, part = ?9, held = ?10, spent = ?11, at = ?12, frees = ?13`
	allBudgets = "SELECT name FROM budgets ORDER BY name"
	getSwept   = "SELECT swept FROM budgets WHERE name = ?"
	callFields = "SELECT id, attempt, state, tenant, owner, taken, used, budgets, charged, run, wall, evidence FROM calls"
	getCall    = callFields + " WHERE id = ? AND attempt = ?"
	openCalls  = callFields + " WHERE state < 3 ORDER BY id, attempt"
	allCalls   = callFields + " ORDER BY id, attempt"
	putCall    = `INSERT INTO calls (id, attempt, state, tenant, owner, taken, used, budgets, charged, run, wall, evidence)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id, attempt) DO UPDATE SET
		state = ?3, used = ?7, charged = ?9, evidence = ?12`
	overCalls  = "SELECT id, attempt FROM calls WHERE state >= 3 AND wall < ? ORDER BY wall LIMIT ?"
	deleteCall = "DELETE FROM calls WHERE id = ? AND attempt = ?"
	addSwept   = "UPDATE budgets SET swept = swept + ? WHERE name = ?"
	putClock   = "INSERT INTO clock (one, run, wall) VALUES (1, ?, ?) ON CONFLICT (one) DO UPDATE SET run = ?1, wall = ?2"
	getClock   = "SELECT run, wall FROM clock"
)
