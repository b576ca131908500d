package quota_test

import (
	"fmt"
	"time"

	"github.com/spillway-dev/spillway/policy/quota"
	"github.com/spillway-dev/spillway/policy/unit"
)

// Two calls at once and 1,000 tokens a minute: the second call finds too few tokens
// and is told when there are enough. The first is lost, and keeps its slot until
// its answer turns up.
func Example() {
	budgets := []quota.Budget{
		quota.NewBudget(quota.Limit{Unit: quota.Concurrent, Most: 2}, quota.Time{}),
		quota.NewBudget(quota.Limit{Unit: quota.Tokens, Most: 1000, Refill: 1000, Every: time.Minute}, quota.Time{}),
	}
	first := quota.Reservation{Taken: quota.Amounts{quota.Concurrent: 1, quota.Tokens: 700}}
	fmt.Println(quota.Decide(quota.Time{}, budgets, first.Taken).OK())
	v := quota.Decide(quota.Time{}, budgets, quota.Amounts{quota.Concurrent: 1, quota.Tokens: 600})
	fmt.Println(v.Reason, "for", v.After)

	now := quota.Time{Run: unit.Instant(time.Second)}
	fmt.Println(first.Start(0), first.Orphan(0, now, budgets), first.State, budgets[0].Free(now), "slot free")
	fmt.Println(first.Settle(0, now, budgets, quota.Amounts{quota.Tokens: 650}), first.State, budgets[0].Free(now), "slots free")
	// Output:
	// true
	// quota_tokens for 18s
	// <nil> <nil> unknown 1 slot free
	// <nil> settled 2 slots free
}
