package ledger

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/spillway-dev/spillway/policy/chance"
	"github.com/spillway-dev/spillway/policy/quota"
)

// Ledger is one process's way to a store. It is safe for concurrent use.
type Ledger struct {
	name  string // the first one of owner
	owner string // the group's goroutine's alone
	store Store
	group *group
	luck  chance.Source // of jobs' pauses; the group's goroutine's alone
	terms atomic.Pointer[terms]
	fleet fleet
}

// Open returns the ledger of a store, to which the process of this name writes; a
// name is used by one process and never again. It begins with an audit: a store
// whose counters are not the sum of its calls is not written to, and the error is
// a *Mismatch.
func Open(ctx context.Context, s Store, owner string) (*Ledger, error) {
	l := &Ledger{name: owner, owner: owner, store: s, luck: chance.New(chance.Key(owner))}
	found, err := l.Audit(ctx)
	if err != nil {
		return nil, err
	}
	if len(found.Wrong) > 0 {
		return nil, &Mismatch{found}
	}
	l.group = newGroup(s)
	return l, nil
}

// Close carries out what was asked before, and closes the store.
func (l *Ledger) Close() error {
	l.leave()
	l.group.close()
	return l.store.Close()
}

// Reserve takes what a call needs of every budget that applies, or of none. It
// returns when that is on disk. An attempt that is there already is answered as it
// stands; ErrOther if it was another ask.
func (l *Ledger) Reserve(ctx context.Context, a Ask) (Grant, error) {
	if err := a.check(); err != nil {
		return Grant{}, err
	}
	var g Grant
	var wrong error
	names := make([]string, len(a.Budgets))
	for i, b := range a.Budgets {
		names[i] = b.Name
	}
	err := l.group.do(ctx, Touches{Calls: []Key{{a.ID, a.Attempt}}, Budgets: names}, func(r Rows) (err error) {
		g, wrong, err = l.reserve(r, &a, names)
		return err
	})
	if err == nil {
		err = wrong
	}
	if errors.Is(err, ErrTerms) {
		if _, _, look := l.follow(ctx); look != nil {
			err = look
		}
	}
	return g, err
}

func (l *Ledger) reserve(r Rows, a *Ask, names []string) (g Grant, wrong, err error) {
	was, there, err := r.Call(a.ID, a.Attempt)
	if err != nil {
		return g, nil, err
	}
	if there {
		if was.Taken != a.Amounts || !slices.Equal(was.Budgets, names) {
			return g, ErrOther, nil
		}
		return Grant{Again: true, State: was.State, Verdict: quota.Verdict{Budget: -1}}, nil, nil
	}
	now := r.Time()
	budgets := make([]quota.Budget, len(names))
	for i := range names {
		b, there, err := r.Budget(names[i])
		if err != nil {
			return g, nil, err
		}
		if !there {
			if ok, err := l.current(r); err != nil || !ok {
				return g, ErrTerms, err
			}
			b = quota.NewBudget(a.Budgets[i].Limit, now)
		}
		budgets[i] = b
	}
	g.Verdict = quota.Decide(now, budgets, a.Amounts)
	if !g.OK() {
		g.Budget = names[g.Verdict.Budget]
		return g, nil, nil
	}
	c := Call{
		ID: a.ID, Tenant: a.Tenant, Owner: l.owner, Budgets: names, Charged: make([]int64, len(names)),
		Reservation: quota.Reservation{Attempt: a.Attempt, Taken: a.Amounts, At: now},
	}
	for i := range budgets {
		if u := budgets[i].Limit.Unit; u != quota.Concurrent {
			c.Charged[i] = max(a.Amounts[u], 0)
		}
		if err := r.SetBudget(names[i], budgets[i]); err != nil {
			return g, nil, err
		}
	}
	return g, nil, r.SetCall(c)
}

// Start writes the start marker: the call may be sent when it returns nil.
func (l *Ledger) Start(ctx context.Context, id string, attempt int64) error {
	return l.change(ctx, id, attempt, func(c *Call, _ quota.Time, _ []quota.Budget) error { return c.Start(attempt) })
}

// Settle records what the call used, which frees its slot; also of one that was
// unknown.
func (l *Ledger) Settle(ctx context.Context, id string, attempt int64, used quota.Amounts) error {
	return l.change(ctx, id, attempt, func(c *Call, now quota.Time, b []quota.Budget) error {
		if err := c.Settle(attempt, now, b, used); err != nil {
			return err
		}
		c.Used = bounded(used)
		return nil
	})
}

// Lose records that nobody knows what became of the call, and why.
func (l *Ledger) Lose(ctx context.Context, id string, attempt int64, why string) error {
	return l.change(ctx, id, attempt, func(c *Call, _ quota.Time, _ []quota.Budget) error {
		if err := c.Lose(attempt); err != nil {
			return err
		}
		c.Evidence = cut(why)
		return nil
	})
}

// Release gives back what a call has taken that provably never started.
func (l *Ledger) Release(ctx context.Context, id string, attempt int64) error {
	return l.change(ctx, id, attempt, func(c *Call, now quota.Time, b []quota.Budget) error { return c.Release(attempt, now, b) })
}

// Known is what evidence from outside says of a call that is unknown.
type Known struct {
	// NotStarted: it never ran. Else it ran and has ended, and used Used.
	NotStarted bool
	Used       quota.Amounts
	// Evidence is how that is known, in words: it may not be empty.
	Evidence string
}

// Reconcile ends what is unknown by evidence from outside. There is no other way
// to end it by hand, and none that needs no evidence.
func (l *Ledger) Reconcile(ctx context.Context, id string, attempt int64, k Known) error {
	if k.Evidence == "" {
		return fmt.Errorf("say how it is known: evidence may not be empty")
	}
	return l.change(ctx, id, attempt, func(c *Call, now quota.Time, b []quota.Budget) (err error) {
		switch {
		case c.State != quota.Unknown && !c.State.Final():
			return fmt.Errorf("%s is %v: its owner still has it", id, c.State)
		case k.NotStarted:
			err = c.ResolveNotStarted(attempt, now, b)
		default:
			if err = c.Settle(attempt, now, b, k.Used); err == nil {
				c.Used = bounded(k.Used)
			}
		}
		if err == nil {
			c.Evidence = cut(k.Evidence)
		}
		return err
	})
}

// change loads an attempt with its budgets, has f change both, and writes what has
// changed. An error of f changes nothing and is returned.
func (l *Ledger) change(ctx context.Context, id string, attempt int64, f func(*Call, quota.Time, []quota.Budget) error) error {
	var wrong error
	err := l.group.do(ctx, Touches{Calls: []Key{{id, attempt}}}, func(r Rows) (err error) {
		wrong, err = change(r, id, attempt, f)
		return err
	})
	if err == nil {
		err = wrong
	}
	return err
}

func change(r Rows, id string, attempt int64, f func(*Call, quota.Time, []quota.Budget) error) (wrong, err error) {
	c, there, err := r.Call(id, attempt)
	if err != nil || !there {
		return ErrNoCall, err
	}
	budgets := make([]quota.Budget, len(c.Budgets))
	before := make([]quota.Budget, len(c.Budgets))
	for i, name := range c.Budgets {
		b, there, err := r.Budget(name)
		if err != nil {
			return nil, err
		}
		if !there {
			return nil, fmt.Errorf("call %s attempt %d took of budget %s, which is not there", id, attempt, name)
		}
		budgets[i], before[i] = b, b
	}
	was := c.State
	if wrong := f(&c, r.Time(), budgets); wrong != nil {
		return wrong, nil
	}
	if was == c.State && was != quota.Unknown {
		return nil, nil
	}
	c.Charged = slices.Clone(c.Charged)
	for i := range budgets {
		if budgets[i] == before[i] {
			continue
		}
		c.Charged[i] += budgets[i].Spent - before[i].Spent
		if err := r.SetBudget(c.Budgets[i], budgets[i]); err != nil {
			return nil, err
		}
	}
	return nil, r.SetCall(c)
}

// Orphan ends what the processes that live reports dead have left: what they had
// reserved is released, what they had started is unknown. It returns how many of
// each.
func (l *Ledger) Orphan(ctx context.Context, dead func(owner string) bool, why string) (released, unknown int, err error) {
	var left []Key
	err = l.store.View(ctx, func(r Rows) error {
		return r.Open(func(c Call) error {
			if c.State != quota.Unknown && dead(c.Owner) {
				left = append(left, Key{c.ID, c.Attempt})
			}
			return nil
		})
	})
	for part := range slices.Chunk(left, groupMost) {
		if err != nil {
			break
		}
		var r, u int
		err = l.group.do(ctx, Touches{Calls: part}, func(rows Rows) (err error) {
			r, u, err = orphan(rows, part, why)
			return err
		})
		released, unknown = released+r, unknown+u
	}
	return released, unknown, err
}

func orphan(rows Rows, left []Key, why string) (released, unknown int, err error) {
	for _, k := range left {
		var state quota.State
		wrong, err := change(rows, k.ID, k.Attempt, func(c *Call, now quota.Time, b []quota.Budget) error {
			if c.State == quota.Unknown {
				return quota.ErrOver // somebody was quicker
			}
			c.Evidence = cut(why)
			err := c.Orphan(c.Attempt, now, b)
			state = c.State
			return err
		})
		switch {
		case err != nil:
			return 0, 0, err
		case wrong != nil: // it has ended meanwhile
		case state == quota.Released:
			released++
		default:
			unknown++
		}
	}
	return released, unknown, nil
}

// Find returns the attempt, and false if there is none.
func (l *Ledger) Find(ctx context.Context, id string, attempt int64) (c Call, there bool, err error) {
	err = l.store.View(ctx, func(r Rows) (err error) {
		c, there, err = r.Call(id, attempt)
		return err
	})
	return c, there, err
}

// check returns what is wrong with an ask, or nil.
func (a *Ask) check() error {
	switch {
	case a.ID == "" || len(a.ID) > NameMax:
		return fmt.Errorf("an id of %d bytes; 1 to %d are right", len(a.ID), NameMax)
	case len(a.Tenant) > NameMax:
		return fmt.Errorf("a tenant's name of %d bytes; at most %d are right", len(a.Tenant), NameMax)
	case len(a.Budgets) > BudgetsMax:
		return fmt.Errorf("%d budgets; at most %d can apply to a call", len(a.Budgets), BudgetsMax)
	}
	for u, n := range a.Amounts {
		if n < 0 || n > quota.MostMax {
			return fmt.Errorf("%d %v; write 0 to %d", n, quota.Unit(u), quota.MostMax)
		}
	}
	for i, b := range a.Budgets {
		if b.Name == "" || len(b.Name) > NameMax {
			return fmt.Errorf("budget %d has a name of %d bytes; 1 to %d are right", i+1, len(b.Name), NameMax)
		}
		if err := b.Limit.Validate(); err != nil {
			return fmt.Errorf("budget %s: %w", b.Name, err)
		}
		for _, other := range a.Budgets[:i] {
			if other.Name == b.Name {
				return fmt.Errorf("budget %s twice; a call takes of it once", b.Name)
			}
		}
	}
	return nil
}

// bounded is what was used, as far as it can be true.
func bounded(used quota.Amounts) quota.Amounts {
	for i, n := range used {
		used[i] = min(max(n, 0), quota.MostMax)
	}
	return used
}

// cut keeps words from outside to what a row may hold.
func cut(s string) string { return strings.ToValidUTF8(s[:min(len(s), EvidenceMax)], "?") }
