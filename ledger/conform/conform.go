package conform

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/spillway-dev/spillway/ledger"
	"github.com/spillway-dev/spillway/policy/quota"
)

// Place is where a store keeps its rows: it can be opened, closed and opened again.
// now is the clock that the store takes for its own, nil for what it has.
type Place interface {
	Open(now func() time.Time) (ledger.Store, error)
}

// Run runs the suite; fresh returns a place that has no rows.
func Run(t *testing.T, fresh func(t testing.TB) Place) {
	for _, c := range []struct {
		name string
		test func(*testing.T, func(testing.TB) Place)
	}{
		{"a refusal changes nothing", refusal},
		{"the same attempt is the same reservation", again},
		{"what is known of a call", life},
		{"whoever is new has a limit", newcomers},
		{"no more at once than there are slots", together},
		{"a call is settled once, however often it is told", settledOnce},
		{"what was promised is there after a restart", restart},
		{"what the dead leave", orphans},
		{"evidence", evidence},
		{"what is swept stays on the account", swept},
		{"a store that fails", failing},
		{"the clock steps", clock},
		{"counters are the sum of the calls", sums},
		{"asks that make no sense", nonsense},
		{"lists of calls", listed},
		{"credit that processes hold", leases},
		{"what is not leased", notLeased},
		{"a process that is stopped and goes on", stopped},
		{"a process that leaves", left},
		{"a process that is alone", alone},
		{"the ledger's quotas are everybody's", configured},
		{"quotas are replaced under load", replacedUnderLoad},
		{"a job from 202 to its answer", jobLife},
		{"what a job was answered", jobAnswered},
		{"a job's attempts are fenced", jobFence},
		{"a key is one job", jobKeys},
		{"what the dead leave of jobs", jobOrphans},
		{"how many jobs there may be", jobBounds},
		{"whose turn it is", jobTurns},
		{"jobs that are over are forgotten", jobsSwept},
		{"lists of jobs", jobLists},
		{"jobs on a store that fails", jobsFailing},
		{"jobs that make no sense", jobsNonsense},
		{"jobs at random", jobsAtRandom},
	} {
		t.Run(c.name, func(t *testing.T) { c.test(t, fresh) })
	}
}

var ctx = context.Background()

func open(t testing.TB, p Place, owner string) *ledger.Ledger {
	t.Helper()
	return openAt(t, p, owner, nil)
}

func openAt(t testing.TB, p Place, owner string, now func() time.Time) *ledger.Ledger {
	t.Helper()
	s, err := p.Open(now)
	if err != nil {
		t.Fatal(err)
	}
	l, err := ledger.Open(ctx, s, owner)
	if err != nil {
		t.Fatal(errors.Join(err, s.Close()))
	}
	t.Cleanup(func() { closeAndAudit(t, l) })
	return l
}

// closeAndAudit ends every test: the counters are the sum of the calls.
func closeAndAudit(t testing.TB, l *ledger.Ledger) {
	found, err := l.Audit(ctx)
	if err == nil {
		for _, w := range found.Wrong {
			t.Error(w)
		}
		err = l.Close()
	} else if l.Close() == nil {
		return // it had been closed by the test
	}
	if err != nil {
		t.Error(err)
	}
}

func slots(name string, n int64) ledger.Ref {
	return ledger.Ref{Name: name, Limit: quota.Limit{Unit: quota.Concurrent, Most: n}}
}

func tokens(name string, burst, refill int64, every time.Duration) ledger.Ref {
	return ledger.Ref{Name: name, Limit: quota.Limit{Unit: quota.Tokens, Most: burst, Refill: refill, Every: every}}
}

func ask(id string, amounts quota.Amounts, budgets ...ledger.Ref) ledger.Ask {
	return ledger.Ask{ID: id, Tenant: "acme", Budgets: budgets, Amounts: amounts}
}

// oneCall is a slot and some tokens.
func oneCall(tokens int64) quota.Amounts {
	return quota.Amounts{quota.Concurrent: 1, quota.Tokens: tokens}
}

// must returns a grant that was given.
func must(t testing.TB, l *ledger.Ledger, a ledger.Ask) {
	t.Helper()
	g, err := l.Reserve(ctx, a)
	if err != nil || !g.OK() || g.Again {
		t.Fatalf("%s: %+v, %v", a.ID, g, err)
	}
}

func state(t testing.TB, l *ledger.Ledger, id string) quota.State {
	t.Helper()
	c, there, err := l.Find(ctx, id, 0)
	if err != nil || !there {
		t.Fatalf("%s: there %v, %v", id, there, err)
	}
	return c.State
}
