package sqlite

// jobSchema are the tables of jobs. A job's messages lie apart from it, so that a change
// of its state does not write them again. Each index is of the rows that somebody looks
// for: what waits in a tenant's order and in a class's, what is late, what runs, whose
// end is old or is to be told.
const jobSchema = `
CREATE TABLE IF NOT EXISTS jobs (
  id TEXT PRIMARY KEY, class TEXT NOT NULL, tenant TEXT NOT NULL, state INTEGER NOT NULL, attempt INTEGER NOT NULL,
  due INTEGER NOT NULL, deadline INTEGER NOT NULL, ended INTEGER NOT NULL, flags INTEGER NOT NULL, why INTEGER NOT NULL,
  idem TEXT NOT NULL, print TEXT NOT NULL, owner TEXT NOT NULL, cost INTEGER NOT NULL, bytes INTEGER NOT NULL,
  run INTEGER NOT NULL, wall INTEGER NOT NULL, status INTEGER NOT NULL, kept INTEGER NOT NULL, evidence TEXT NOT NULL,
  webhook TEXT NOT NULL, told INTEGER NOT NULL, tell INTEGER NOT NULL, bringer TEXT NOT NULL
) WITHOUT ROWID;
CREATE UNIQUE INDEX IF NOT EXISTS job_keys ON jobs (idem) WHERE idem <> '';
CREATE INDEX IF NOT EXISTS job_turns ON jobs (class, tenant, due, id) WHERE state = 0;
CREATE INDEX IF NOT EXISTS job_firsts ON jobs (class, due) WHERE state = 0;
CREATE INDEX IF NOT EXISTS job_late ON jobs (deadline) WHERE state = 0;
CREATE INDEX IF NOT EXISTS job_over ON jobs (ended) WHERE state >= 3;
CREATE INDEX IF NOT EXISTS job_tell ON jobs (tell) WHERE tell <> 0;
CREATE INDEX IF NOT EXISTS job_tenants ON jobs (tenant, id);
CREATE INDEX IF NOT EXISTS job_states ON jobs (state, id);
CREATE TABLE IF NOT EXISTS messages (
  job TEXT NOT NULL, part INTEGER NOT NULL, head BLOB NOT NULL, body BLOB NOT NULL, PRIMARY KEY (job, part)
);
CREATE TABLE IF NOT EXISTS lines (
  of INTEGER NOT NULL, class TEXT NOT NULL, tenant TEXT NOT NULL, waiting INTEGER NOT NULL, open INTEGER NOT NULL, bytes INTEGER NOT NULL,
  PRIMARY KEY (of, class, tenant)
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS line_tenants ON lines (class, tenant) WHERE of = 2 AND waiting > 0;
`

// The statements about jobs, by what they do. Two name their index: SQLite has no
// statistics here, and takes one by which all that wait would be gone through.
const (
	jobFields = `SELECT id, class, tenant, state, attempt, due, deadline, ended, flags, why, idem, print, owner, cost, bytes,
		run, wall, status, kept, evidence, webhook, told, tell, bringer FROM jobs`
	getJob = jobFields + " WHERE id = ?"
	getKey = jobFields + " WHERE idem = ? AND idem <> ''"
	putJob = `INSERT INTO jobs (id, class, tenant, state, attempt, due, deadline, ended, flags, why, idem, print, owner, cost, bytes,
		run, wall, status, kept, evidence, webhook, told, tell, bringer)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO UPDATE SET
		state = ?4, attempt = ?5, due = ?6, ended = ?8, flags = ?9, why = ?10, owner = ?13, bytes = ?15,
		status = ?18, kept = ?19, evidence = ?20, told = ?22, tell = ?23`
	deleteJob      = "DELETE FROM jobs WHERE id = ?"
	deleteMessages = "DELETE FROM messages WHERE job = ?"
	getMessage     = "SELECT head, body FROM messages WHERE job = ? AND part = ?"
	putMessage     = "INSERT INTO messages (job, part, head, body) VALUES (?, ?, ?, ?) ON CONFLICT (job, part) DO UPDATE SET head = ?3, body = ?4"
	deleteMessage  = "DELETE FROM messages WHERE job = ? AND part = ?"
	getLine        = "SELECT waiting, open, bytes FROM lines WHERE of = ? AND class = ? AND tenant = ?"
	putLine        = `INSERT INTO lines (of, class, tenant, waiting, open, bytes) VALUES (?, ?, ?, ?, ?, ?)
		ON CONFLICT (of, class, tenant) DO UPDATE SET waiting = ?4, open = ?5, bytes = ?6`
	deleteLine  = "DELETE FROM lines WHERE of = ? AND class = ? AND tenant = ?"
	allLines    = "SELECT of, class, tenant, waiting, open, bytes FROM lines ORDER BY of, class, tenant"
	dueJobs     = jobFields + " WHERE state = 0 AND class = ? AND tenant = ? AND due <= ? ORDER BY due, id LIMIT ?"
	firstDue    = "SELECT due FROM jobs WHERE state = 0 AND class = ? ORDER BY due LIMIT 1"
	lineTenants = "SELECT tenant FROM lines INDEXED BY line_tenants WHERE of = 2 AND waiting > 0 AND class = ? AND tenant > ? ORDER BY tenant LIMIT ?"
	listJobs    = jobFields + " WHERE id < ? ORDER BY id DESC LIMIT ?"
	listTenant  = jobFields + " WHERE tenant = ? AND id < ? ORDER BY id DESC LIMIT ?"
	listState   = jobFields + " WHERE state = ? AND id < ? ORDER BY id DESC LIMIT ?"
	runningJobs = jobFields + " WHERE state = 1 ORDER BY id"
	everyJob    = jobFields + " ORDER BY id"
	lateJobs    = "SELECT id FROM jobs INDEXED BY job_late WHERE state = 0 AND deadline <= ? ORDER BY deadline LIMIT ?"
	overJobs    = "SELECT id FROM jobs WHERE state >= 3 AND ended < ? ORDER BY ended LIMIT ?"
	jobsToTell  = "SELECT id FROM jobs WHERE tell <> 0 AND tell <= ? ORDER BY tell LIMIT ?"
)
