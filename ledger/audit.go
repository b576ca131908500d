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
	// Wrong is every counter that is not the sum of what it counts.
	Wrong []Wrong
}

// Wrong is one counter that does not agree.
type Wrong struct {
	Budget  string
	Counter string // held or spent
	Says    int64  // what the budget's row says
	Is      int64  // what the calls' rows add up to
}

// String says it in a line.
func (w Wrong) String() string {
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

// Audit adds every counter up again from the calls. It reads every row.
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
		return r.Budgets(func(name string, b quota.Budget) error {
			found.Budgets++
			swept, err := r.Swept(name)
			if err != nil {
				return err
			}
			for _, w := range []Wrong{
				{name, "held", b.Held, held[name]},
				{name, "spent", b.Spent, spent[name] + swept},
			} {
				if w.Says != w.Is {
					found.Wrong = append(found.Wrong, w)
				}
			}
			return nil
		})
	})
	return found, err
}
