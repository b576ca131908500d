package postgres

import (
	"github.com/jackc/pgx/v5"

	"github.com/spillway-dev/spillway/ledger"
	"github.com/spillway-dev/spillway/policy/job"
	"github.com/spillway-dev/spillway/policy/reason"
)

// jobTables are the tables of jobs. A job's messages lie apart from it, so that a change
// of its state does not write them again; texts that are in an order are in that of their
// bytes. Each index is of the rows that somebody looks for.
const jobTables = `
CREATE TABLE spillway_jobs (
  id text COLLATE "C" PRIMARY KEY, class text COLLATE "C" NOT NULL, tenant text COLLATE "C" NOT NULL, state bigint NOT NULL, attempt bigint NOT NULL,
  due bigint NOT NULL, deadline bigint NOT NULL, ended bigint NOT NULL, harmless boolean NOT NULL, inline boolean NOT NULL, stop boolean NOT NULL,
  why bigint NOT NULL, idem text NOT NULL, print text NOT NULL, owner text NOT NULL, cost bigint NOT NULL, bytes bigint NOT NULL,
  run bigint NOT NULL, wall bigint NOT NULL, status bigint NOT NULL, kept boolean NOT NULL, evidence text NOT NULL,
  webhook text NOT NULL, told bigint NOT NULL, tell bigint NOT NULL, bringer text NOT NULL
) WITH (fillfactor = 70);
CREATE UNIQUE INDEX spillway_job_keys ON spillway_jobs (idem) WHERE idem <> '';
CREATE INDEX spillway_job_turns ON spillway_jobs (class, tenant, due, id) WHERE state = 0;
CREATE INDEX spillway_job_firsts ON spillway_jobs (class, due) WHERE state = 0;
CREATE INDEX spillway_job_late ON spillway_jobs (deadline) WHERE state = 0;
CREATE INDEX spillway_job_over ON spillway_jobs (ended) WHERE state >= 3;
CREATE INDEX spillway_job_tell ON spillway_jobs (tell) WHERE tell <> 0;
CREATE INDEX spillway_job_tenants ON spillway_jobs (tenant, id);
CREATE INDEX spillway_job_states ON spillway_jobs (state, id);
CREATE TABLE spillway_messages (job text COLLATE "C" NOT NULL, part bigint NOT NULL, head bytea NOT NULL, body bytea NOT NULL, PRIMARY KEY (job, part));
CREATE TABLE spillway_lines (
  of bigint NOT NULL, class text COLLATE "C" NOT NULL, tenant text COLLATE "C" NOT NULL, waiting bigint NOT NULL, open bigint NOT NULL, bytes bigint NOT NULL,
  PRIMARY KEY (of, class, tenant)
) WITH (fillfactor = 50);
CREATE INDEX spillway_line_tenants ON spillway_lines (class, tenant) WHERE of = 2 AND waiting > 0;
`

const (
	jobFields = `id, class, tenant, state, attempt, due, deadline, ended, harmless, inline, stop, why, idem, print, owner, cost, bytes,
		run, wall, status, kept, evidence, webhook, told, tell, bringer`
	lineFields = "of, class, tenant, waiting, open, bytes"
)

// queueJob queues a job to be written.
func queueJob(batch *pgx.Batch, j *ledger.Job, stored bool) {
	if stored {
		batch.Queue(`UPDATE spillway_jobs SET state = $2, attempt = $3, due = $4, ended = $5, stop = $6, why = $7, owner = $8, bytes = $9,
			status = $10, kept = $11, evidence = $12, told = $13, tell = $14 WHERE id = $1`,
			storable(j.ID), int64(j.State), j.Attempt, int64(j.Due), int64(j.Ended), j.Stop, int64(j.Why), storable(j.Owner), j.Bytes,
			j.Status, j.Kept, storable(j.Evidence), j.Told, int64(j.TellAt))
		return
	}
	batch.Queue("INSERT INTO spillway_jobs ("+jobFields+") VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23, $24, $25, $26)",
		storable(j.ID), storable(j.Class), storable(j.Tenant), int64(j.State), j.Attempt, int64(j.Due), int64(j.Deadline), int64(j.Ended),
		j.Harmless, j.Inline, j.Stop, int64(j.Why), storable(j.Key), storable(j.Print), storable(j.Owner), j.Cost, j.Bytes,
		int64(j.Accepted.Run), int64(j.Accepted.Wall), j.Status, j.Kept, storable(j.Evidence), storable(j.Webhook), j.Told, int64(j.TellAt), storable(j.By))
}

func scanJob(row pgx.CollectableRow) (j ledger.Job, err error) {
	var state, why int64
	err = row.Scan(&j.ID, &j.Class, &j.Tenant, &state, &j.Attempt, &j.Due, &j.Deadline, &j.Ended, &j.Harmless, &j.Inline, &j.Stop, &why,
		&j.Key, &j.Print, &j.Owner, &j.Cost, &j.Bytes, &j.Accepted.Run, &j.Accepted.Wall, &j.Status, &j.Kept, &j.Evidence, &j.Webhook, &j.Told, &j.TellAt, &j.By)
	for _, text := range []*string{&j.ID, &j.Class, &j.Tenant, &j.Key, &j.Print, &j.Owner, &j.Evidence, &j.Webhook, &j.By} {
		*text = asStored(*text)
	}
	j.State, j.Why = job.State(state), reason.Reason(why)
	return j, err
}
