package sqlite

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/ncruces/go-sqlite3"

	"github.com/spillway-dev/spillway/ledger"
	"github.com/spillway-dev/spillway/policy/call"
	"github.com/spillway-dev/spillway/policy/job"
	"github.com/spillway-dev/spillway/policy/quota"
	"github.com/spillway-dev/spillway/policy/unit"
)

// Whatever is looked for among jobs is found by an index, and nothing is sorted: what a
// look takes does not depend on how many wait.
func TestJobsAreFoundByAnIndex(t *testing.T) {
	s, err := Open(filepath.Join(t.TempDir(), "ledger.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for query, index := range map[string]string{
		getJob: "PRIMARY KEY", getKey: "job_keys", dueJobs: "job_turns", firstDue: "job_firsts", lineTenants: "line_tenants", runningJobs: "job_states",
		lateJobs: "job_late", overJobs: "job_over", jobsToTell: "job_tell", listTenant: "job_tenants", listState: "job_states", listJobs: "PRIMARY KEY",
		getMessage: "sqlite_autoindex_messages_1", getLine: "PRIMARY KEY",
	} {
		var plan []string
		if _, err := s.read.rows("EXPLAIN QUERY PLAN "+query, func(row *sqlite3.Stmt) error {
			plan = append(plan, row.ColumnText(3))
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(plan, "; "); !strings.Contains(got, index) || strings.Contains(got, "TEMP B-TREE") {
			t.Errorf("%s\n%s, want index %s and nothing sorted", query, got, index)
		}
	}
}

// many writes n waiting jobs of a thousand tenants, in transactions of many.
func many(t *testing.T, s *Store, from, n int) {
	t.Helper()
	for n > 0 {
		part := min(n, 10000)
		if err := s.Update(context.Background(), ledger.Touches{}, func(r ledger.Rows) error {
			for i := from; i < from+part; i++ {
				j := ledger.Job{ID: fmt.Sprintf("job_%012d", i), Class: "mail", Tenant: fmt.Sprint("tenant", i%1000), Cost: 1, Bytes: ledger.JobBase + 100,
					Job: job.Job{Due: unit.Instant(i), Deadline: unit.Never}, Accepted: quota.Time{Run: unit.Instant(i)}}
				if err := r.SetMessage(j.ID, ledger.Request, ledger.Message{Head: make([]byte, 50), Body: make([]byte, 50)}); err != nil {
					return err
				}
				for _, name := range ledger.LinesOf(j.Class, j.Tenant) {
					l, err := r.Line(name)
					if err == nil {
						err = r.SetLine(name, l.Add(&j.Job, j.Bytes, 1))
					}
					if err != nil {
						return err
					}
				}
				if err := r.SetJob(j); err != nil {
					return err
				}
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		from, n = from+part, n-part
	}
}

// A backlog of many jobs is worked off one by one, all that is done of it is forgotten,
// and everything adds up; what picks hold in memory does not depend on how many wait. The
// times are for whoever reads the log (SPILLWAY_JOBS=1000000).
func TestAMillionJobsWait(t *testing.T) {
	n := 5000
	if m, err := strconv.Atoi(os.Getenv("SPILLWAY_JOBS")); err == nil {
		n = m
	}
	s, err := Open(filepath.Join(t.TempDir(), "ledger.db"))
	if err != nil {
		t.Fatal(err)
	}
	l, err := ledger.Open(context.Background(), s, "one")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	ctx := context.Background()
	have := 0
	for _, size := range []int{n / 100, n} {
		many(t, s, have, size-have)
		have = size
		const picks = 2000
		began := time.Now()
		for i := range picks {
			due, err := l.Due(ctx, "mail", fmt.Sprint("tenant", i%min(1000, size)), 9)
			if err != nil || len(due) == 0 {
				t.Fatal(len(due), err)
			}
		}
		t.Logf("%d wait: a pick takes %v", size, time.Since(began)/picks)
	}
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	t.Logf("%d wait: %d MiB in use", n, m.HeapInuse>>20)
	began := time.Now()
	done := n / 10
	for i := range done {
		id := fmt.Sprintf("job_%012d", i)
		if _, err := l.StartJob(ctx, id, 0); err != nil {
			t.Fatal(err)
		}
		if _, err := l.EndJob(ctx, id, 1, ledger.Ending{Outcome: call.Outcome{}, Status: 204, Answer: &ledger.Message{}}); err != nil {
			t.Fatal(err)
		}
		if i == 2000 {
			done = i + 1
			break // that is enough to see how long one takes
		}
	}
	t.Logf("a job is started and ended in %v, by one who waits for each", time.Since(began)/time.Duration(done))
	began = time.Now()
	swept, err := l.SweepJobs(ctx, -time.Hour)
	if err != nil || swept != done {
		t.Fatalf("%d forgotten, want %d; %v", swept, done, err)
	}
	t.Logf("%d forgotten in %v each", swept, time.Since(began)/time.Duration(swept))
	began = time.Now()
	found, err := l.Audit(ctx)
	if err != nil || len(found.Wrong) > 0 || found.Jobs != n-done {
		t.Errorf("%+v, %v", found, err)
	}
	t.Logf("an audit of %d takes %v", found.Jobs, time.Since(began))
}

// An audit holds lines against jobs.
func TestAnAuditFindsAWrongLine(t *testing.T) {
	s, err := Open(filepath.Join(t.TempDir(), "ledger.db"))
	if err != nil {
		t.Fatal(err)
	}
	l, err := ledger.Open(context.Background(), s, "one")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	many(t, s, 0, 3)
	for _, spoil := range []string{"UPDATE lines SET open = open + 1 WHERE of = 1", "DELETE FROM lines WHERE of = 2", "DELETE FROM jobs"} {
		if err := s.write.exec(spoil); err != nil {
			t.Fatal(err)
		}
		found, err := l.Audit(context.Background())
		if err != nil || len(found.Wrong) == 0 || !strings.Contains(found.Wrong[0].String(), "jobs") {
			t.Errorf("%s: %+v, %v", spoil, found, err)
		}
	}
}
