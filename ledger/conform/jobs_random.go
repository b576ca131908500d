package conform

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/spillway-dev/spillway/ledger"
	"github.com/spillway-dev/spillway/policy/call"
	"github.com/spillway-dev/spillway/policy/chance"
	"github.com/spillway-dev/spillway/policy/job"
	"github.com/spillway-dev/spillway/policy/unit"
	"pgregory.net/rapid"
)

// Jobs at random: the model that has only policy/job agrees with every state and every
// error, and every line is the sum of the jobs.
func jobsAtRandom(t *testing.T, fresh func(testing.TB) Place) {
	p, round := fresh(t), 0
	rapid.Check(t, func(rt *rapid.T) {
		round++
		h := &hand{at: time.Date(2026, 5, 10, 12, 0, 0, 0, time.UTC)}
		s, err := p.Open(h.now)
		if err != nil {
			rt.Fatal(err)
		}
		l, err := ledger.Open(ctx, s, fmt.Sprint("owner", round))
		if err != nil {
			rt.Fatal(err)
		}
		var model []job.Job
		named := func(i int) string { return fmt.Sprintf("%d-%d", round, i) }
		begin := unit.Instant(-1)
		luck := chance.New(0) // of pauses without jitter nothing is drawn
		for range rapid.IntRange(1, 50).Draw(rt, "steps") {
			h.step(time.Duration(rapid.Int64Range(0, 2e9).Draw(rt, "pass")))
			if len(model) == 0 || rapid.IntRange(0, 3).Draw(rt, "new") == 0 {
				n := newJob(named(len(model)), fmt.Sprint("tenant", rapid.IntRange(0, 2).Draw(rt, "tenant")))
				n.Harmless, n.Inline, n.Within = rapid.Bool().Draw(rt, "harmless"), rapid.Bool().Draw(rt, "inline"), 20*time.Second
				a, err := l.Accept(ctx, n)
				if err != nil || a.Claim != job.Free {
					rt.Fatal(a, err)
				}
				if begin < 0 {
					begin = a.Job.Accepted.Run
				}
				model = append(model, a.Job.Job)
				continue
			}
			i := rapid.IntRange(0, len(model)-1).Draw(rt, "which")
			id, m := named(i), &model[i]
			b, err := l.Backlog(ctx, "mail")
			if err != nil {
				rt.Fatal(err)
			}
			now, attempt := b.Now, m.Attempt-rapid.Int64Range(0, 1).Draw(rt, "stale")
			var got, want error
			var j ledger.Job
			switch rapid.IntRange(0, 4).Draw(rt, "what") {
			case 0, 1:
				j, got = l.StartJob(ctx, id, attempt)
				want = m.Start(attempt, now)
			case 2:
				e := ending(call.Result(rapid.IntRange(0, int(call.Neutral)).Draw(rt, "result")))
				j, got = l.EndJob(ctx, id, attempt, e)
				want = m.End(attempt, now, e.Outcome, e.Rules, &luck)
			case 3:
				j, got = l.CancelJob(ctx, id)
				want = m.Cancel(now)
			case 4:
				not := rapid.Bool().Draw(rt, "not started")
				j, got = l.ResolveJob(ctx, id, not, "somebody looked")
				want = m.Resolve(m.Attempt, now, not)
			}
			if errors.Is(got, ledger.ErrNoJob) {
				if m.State != job.Freed {
					rt.Fatalf("%s is gone, the model says %v", id, m.State)
				}
				continue
			}
			if !errors.Is(got, want) || j.Job != *m {
				rt.Fatalf("%+v (%v), the model says %+v (%v)", j.Job, got, *m, want)
			}
		}
		found, err := l.Audit(ctx)
		if err != nil || len(found.Wrong) > 0 {
			rt.Fatalf("%+v, %v", found, err)
		}
		if err := l.Close(); err != nil {
			rt.Fatal(err)
		}
	})
}
