package desk

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spillway-dev/spillway/ledger"
	"github.com/spillway-dev/spillway/policy/quota"
)

// Listing is what Ls answers.
type Listing struct {
	// Terms are the quotas that count.
	Terms   Terms    `json:"terms"`
	Owners  []Owner  `json:"owners"`
	Budgets []Budget `json:"budgets"`
	// MoreBudgets is the name after which there may be more budgets.
	MoreBudgets string `json:"more_budgets,omitempty"`
	Calls       []Call `json:"calls"`
	// More is after which to ask for what may be more calls: id/attempt.
	More string `json:"more,omitempty"`
}

// Terms are the quotas that count, by their version; 0 is none.
type Terms struct {
	Version int64     `json:"version"`
	By      string    `json:"by,omitempty"`
	At      time.Time `json:"at,omitzero"`
}

// Owner is a process that writes to the ledger and is taken for alive.
type Owner struct {
	Name string    `json:"name"`
	Seen time.Time `json:"seen"` // when it last said so, by the store's calendar
}

// LimitMost is how many calls and budgets are listed at once at most, LimitDefault how
// many unless it is said.
const (
	LimitDefault = 100
	LimitMost    = 1000
)

// Bad is the error of a question that makes no sense.
type Bad struct{ error }

// Unwrap returns what is wrong.
func (b *Bad) Unwrap() error { return b.error }

func bad(format string, args ...any) error { return &Bad{fmt.Errorf(format, args...)} }

// Ls lists budgets, who writes, and calls: those whose end is not known, or those that
// state, tenant, owner and budget name (state=all: every one), from after on, limit at
// most. after_budget is the budget after which to begin.
func Ls(ctx context.Context, l *ledger.Ledger, q url.Values) (*Listing, error) {
	f, limit, err := filter(q)
	if err != nil {
		return nil, err
	}
	state, err := l.Look(ctx)
	if err != nil {
		return nil, err
	}
	out := &Listing{Owners: []Owner{}, Budgets: []Budget{}, Calls: []Call{}}
	out.Terms.Version, out.Terms.By = state.Terms.Version, state.Terms.By
	if state.Terms.Version > 0 {
		out.Terms.At = instant(state.Terms.At)
	}
	for _, o := range state.Owners {
		out.Owners = append(out.Owners, Owner{o.Name, instant(o.Seen)})
	}
	budgets, more, err := l.Budgets(ctx, q.Get("after_budget"), limit)
	if err != nil {
		return nil, err
	}
	out.MoreBudgets = more
	for _, b := range budgets {
		out.Budgets = append(out.Budgets, budgetDoc(b))
	}
	calls, next, err := l.Calls(ctx, f, limit)
	if err != nil {
		return nil, err
	}
	for _, c := range calls {
		out.Calls = append(out.Calls, callDoc(c))
	}
	if next != (ledger.Key{}) {
		out.More = next.ID + "/" + strconv.FormatInt(next.Attempt, 10)
	}
	return out, nil
}

var states = []quota.State{quota.Reserved, quota.Started, quota.Unknown, quota.Settled, quota.Released}

func filter(q url.Values) (f ledger.CallFilter, limit int, err error) {
	if err := only(q, "state", "tenant", "owner", "budget", "after", "after_budget", "limit"); err != nil {
		return f, 0, err
	}
	limit = LimitDefault
	if text := q.Get("limit"); text != "" {
		if limit, err = strconv.Atoi(text); err != nil || limit < 1 || limit > LimitMost {
			return f, 0, bad("limit: write 1 to %d", LimitMost)
		}
	}
	f.Tenant, f.Owner, f.Budget = q.Get("tenant"), q.Get("owner"), q.Get("budget")
	f.States = states[:3]
	switch text := q.Get("state"); text {
	case "":
	case "all":
		f.States = nil
	default:
		i := slices.IndexFunc(states, func(s quota.State) bool { return s.String() == text })
		if i < 0 {
			return f, 0, bad("state: write reserved, started, unknown, settled, released or all")
		}
		f.States = states[i : i+1]
	}
	if after := q.Get("after"); after != "" {
		at := strings.LastIndexByte(after, '/')
		if at < 0 {
			return f, 0, bad("after: write ID/ATTEMPT, as more says it")
		}
		n, err := strconv.ParseInt(after[at+1:], 10, 64)
		if err != nil {
			return f, 0, bad("after: write ID/ATTEMPT, as more says it")
		}
		f.After = ledger.Key{ID: after[:at], Attempt: n}
	}
	return f, limit, nil
}

// only refuses a question that asks what is not known.
func only(q url.Values, known ...string) error {
	for key := range q { // any of those that are wrong
		if !slices.Contains(known, key) {
			return bad("%q is not asked here; there are %s", key, strings.Join(known, ", "))
		}
	}
	return nil
}

// Shown is what Show answers: every attempt of a call.
type Shown struct {
	Calls []Call `json:"calls"`
}

// ErrNone says that there is no call of that id.
var ErrNone = errors.New("there is no such call: it was never reserved, or ended longer ago than ledger.keep")

// Show returns every attempt of the call that id names.
func Show(ctx context.Context, l *ledger.Ledger, q url.Values) (*Shown, error) {
	if err := only(q, "id"); err != nil {
		return nil, err
	}
	if q.Get("id") == "" {
		return nil, bad("id: name the call")
	}
	calls, err := l.Attempts(ctx, q.Get("id"))
	if err != nil {
		return nil, err
	}
	if len(calls) == 0 {
		return nil, ErrNone
	}
	out := &Shown{}
	for _, c := range calls {
		out.Calls = append(out.Calls, callDoc(c))
	}
	return out, nil
}
