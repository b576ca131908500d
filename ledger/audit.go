package ledger

import (
	"context"
	"fmt"
	"strings"

	"github.com/spillway-dev/spillway/policy/quota"
)

// Report is what an audit has found.
type Report struct {
	Budgets, Calls, Unknown int
	Jobs, UnknownJobs       int
	// Wrong is every counter that is not the sum of what it counts.
	Wrong []Wrong
}

// Wrong is one counter that does not agree.
type Wrong struct {
	Budget  string
	Line    string // whose jobs it counts, instead of a budget
	Counter string // held or spent; of jobs waiting, open or bytes
	Says    int64  // what the counter's row says
	Is      int64  // what the calls' or the jobs' rows add up to
}

// String says it in a line.
func (w Wrong) String() string {
	if w.Line != "" {
		return fmt.Sprintf("%s: %s is %d, their rows add up to %d", w.Line, w.Counter, w.Says, w.Is)
	}
	return fmt.Sprintf("budget %s: %s is %d, the calls add up to %d", w.Budget, w.Counter, w.Says, w.Is)
}

// Mismatch is the error of a ledger whose counters do not agree with its calls.
type Mismatch struct{ Report Report }

// Error names the first few counters.
func (m *Mismatch) Error() string {
	lines := make([]string, 0, 4)
	for i, w := range m.Report.Wrong {
		if i == 3 {
			lines = append(lines, fmt.Sprintf("and %d more", len(m.Report.Wrong)-i))
			break
		}
		lines = append(lines, w.String())
	}
	return "the ledger does not add up: " + strings.Join(lines, "; ")
}

// Audit adds every counter up again from the calls and the jobs. It reads every row.
func (l *Ledger) Audit(ctx context.Context) (found Report, err error) {
	err = l.store.View(ctx, func(r Rows) error {
		found = Report{}
		held, spent := map[string]int64{}, map[string]int64{}
		units := map[string]quota.Unit{}
		err := r.Budgets(func(name string, b quota.Budget) error {
			units[name] = b.Limit.Unit
			return nil
		})
		if err != nil {
			return err
		}
		err = r.All(func(c Call) error {
			found.Calls++
			if c.State == quota.Unknown {
				found.Unknown++
			}
			for i, name := range c.Budgets {
				if !c.State.Final() {
					held[name] += c.Taken[units[name]]
				}
				spent[name] += c.Charged[i]
			}
			return nil
		})
		if err != nil {
			return err
		}
		err = r.Budgets(func(name string, b quota.Budget) error {
			found.Budgets++
			swept, err := r.Swept(name)
			if err != nil {
				return err
			}
			for _, w := range []Wrong{
				{Budget: name, Counter: "held", Says: b.Held, Is: held[name]},
				{Budget: name, Counter: "spent", Says: b.Spent, Is: spent[name] + swept},
			} {
				if w.Says != w.Is {
					found.Wrong = append(found.Wrong, w)
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
		return auditJobs(r, &found)
	})
	return found, err
}
