package desk

import (
	"time"

	"github.com/spillway-dev/spillway/ledger"
	"github.com/spillway-dev/spillway/policy/quota"
	"github.com/spillway-dev/spillway/policy/unit"
)

// Call is an attempt of a call.
type Call struct {
	ID      string `json:"id"`
	Attempt int64  `json:"attempt"`
	State   string `json:"state"`
	Tenant  string `json:"tenant,omitempty"`
	Owner   string `json:"owner"`
	// Taken is what it was counted with, and Used what it used, by unit; Used is empty
	// until that is known.
	Taken map[string]int64 `json:"taken"`
	Used  map[string]int64 `json:"used"`
	// Budgets are those it took of, and what it has cost each so far.
	Budgets  []Charge  `json:"budgets"`
	Reserved time.Time `json:"reserved"` // by the store's calendar
	Evidence string    `json:"evidence,omitempty"`
}

// Charge is what a call has cost a budget so far.
type Charge struct {
	Budget  string `json:"budget"`
	Charged int64  `json:"charged"`
}

func callDoc(c ledger.Call) Call {
	d := Call{
		ID: c.ID, Attempt: c.Attempt, State: c.State.String(), Tenant: c.Tenant, Owner: c.Owner,
		Taken: amounts(c.Taken), Used: amounts(c.Used), Budgets: []Charge{},
		Reserved: instant(c.At.Wall), Evidence: c.Evidence,
	}
	for i, name := range c.Budgets {
		d.Budgets = append(d.Budgets, Charge{name, c.Charged[i]})
	}
	return d
}

func amounts(a quota.Amounts) map[string]int64 {
	all := map[string]int64{}
	for u, n := range a {
		if n != 0 {
			all[quota.Unit(u).String()] = n
		}
	}
	return all
}

func instant(wall unit.Instant) time.Time { return time.Unix(0, int64(wall)).UTC() }

// Budget is a budget as it is at the moment.
type Budget struct {
	Name  string `json:"name"`
	Limit string `json:"limit"` // in words
	Free  int64  `json:"free"`  // can be taken now
	Held  int64  `json:"held"`  // by calls whose end is not known
	Spent int64  `json:"spent"` // ever
	// Counts: the quotas that count have it. Else it is kept for when they have it again.
	Counts bool `json:"counts"`
}

func budgetDoc(b ledger.BudgetState) Budget {
	return Budget{b.Name, ledger.Words(b.Limit), b.Free, b.Held, b.Spent, b.Counts}
}
