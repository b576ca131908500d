package conform

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/spillway-dev/spillway/ledger"
	"github.com/spillway-dev/spillway/policy/quota"
	"pgregory.net/rapid"
)

// Calls at random, by several hands at once, with a restart between: every counter
// is the sum of the calls, and the model that has only policy/quota agrees with
// every verdict.
func sums(t *testing.T, fresh func(testing.TB) Place) {
	p, round := fresh(t), 0
	rapid.Check(t, func(rt *rapid.T) {
		round++ // names of its own: to make a place anew takes longer than to use it
		named := func(i int) string { return fmt.Sprintf("%d-%d", round, i) }
		h := &hand{at: time.Date(2026, 5, 10, 12, 0, 0, 0, time.UTC)}
		s, err := p.Open(h.now)
		if err != nil {
			rt.Fatal(err)
		}
		l, err := ledger.Open(ctx, s, named(0))
		if err != nil {
			rt.Fatal(err)
		}
		refs := []ledger.Ref{slots(fmt.Sprint("calls", round), 3), tokens(fmt.Sprint("tokens", round), 500, 100, time.Second)}
		refs[1].Limit.Refund = rapid.Bool().Draw(rt, "refund")
		model := []quota.Budget{quota.NewBudget(refs[0].Limit, quota.Time{}), quota.NewBudget(refs[1].Limit, quota.Time{})}
		var known []quota.Reservation
		at := quota.Time{}
		for range rapid.IntRange(1, 60).Draw(rt, "steps") {
			pass := time.Duration(rapid.Int64Range(0, 2e9).Draw(rt, "pass"))
			h.step(pass)
			at.Run, at.Wall = at.Run.Add(pass), at.Wall.Add(pass)
			if len(known) == 0 || rapid.Bool().Draw(rt, "new") {
				a := ask(named(len(known)), oneCall(rapid.Int64Range(0, 600).Draw(rt, "tokens")), refs...)
				g, err := l.Reserve(ctx, a)
				if err != nil {
					rt.Fatal(err)
				}
				// The first call makes the budgets: until then no time has passed for them.
				if want := quota.Decide(at, model, a.Amounts); g.Verdict != want {
					rt.Fatalf("%+v, the model says %+v", g.Verdict, want)
				}
				r := quota.Reservation{Taken: a.Amounts, At: at, State: quota.Released}
				if g.OK() {
					r.State = quota.Reserved
				}
				known = append(known, r)
				continue
			}
			i := rapid.IntRange(0, len(known)-1).Draw(rt, "which")
			id, r := named(i), &known[i]
			used := oneCall(rapid.Int64Range(0, 900).Draw(rt, "used"))
			var got, want error
			switch rapid.IntRange(0, 3).Draw(rt, "what") {
			case 0:
				got, want = l.Start(ctx, id, 0), r.Start(0)
			case 1:
				got, want = l.Settle(ctx, id, 0, used), r.Settle(0, at, model, used)
			case 2:
				got, want = l.Lose(ctx, id, 0, "?"), r.Lose(0)
			case 3:
				got, want = l.Release(ctx, id, 0), r.Release(0, at, model)
			}
			if !errors.Is(got, want) && !errors.Is(got, ledger.ErrNoCall) {
				rt.Fatalf("%v, the model says %v", got, want)
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
