package call

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/spillway-dev/spillway/policy/chance"
	"github.com/spillway-dev/spillway/policy/unit"
)

// sweepPolicies are what is compared: three retries of all that fails, and what
// may hold them back.
func sweepPolicies() []struct {
	name string
	Policy
} {
	three := Policy{Retries: 3, Budget: Budget{Off: true}}
	with := func(change func(*Policy)) Policy {
		p := three
		change(&p)
		return p
	}
	return []struct {
		name string
		Policy
	}{
		{"plain", three},
		{"tokens", with(func(p *Policy) { p.Budget = Budget{Percent: 10, Tokens: 10} })},
		{"default", with(func(p *Policy) { p.Budget = Budget{} })},
		{"breaker", with(func(p *Policy) { p.Breaker = Breaker{Failures: 50} })},
		{"both", with(func(p *Policy) { p.Budget = Budget{Percent: 10, Tokens: 10}; p.Breaker = Breaker{Failures: 50} })},
	}
}

// sweep is what comes of 1,000 calls a second, of so many clients together, each
// with a state of its own, of which each attempt fails with so many percent: the
// attempts and the answered calls for each call, after 30 s.
func sweep(t *testing.T, p Policy, clients, percent int) (load, success float64) {
	t.Helper()
	each := make([]*Dependency, clients)
	for i := range each {
		p.Seed = uint64(i)
		each[i] = mustNew(t, p)
	}
	const warm, all = 30_000, 50_000
	dice := chance.New(7)
	var attempts, answered int
	for i := range all {
		now := at(time.Duration(i) * time.Millisecond)
		d, call := each[i%clients], Call{}
		s := d.Begin(now, &call, Request{Deadline: unit.Never, Idempotent: true})
		for s.Do == Send {
			o := Outcome{}
			if dice.Below(100) < int64(percent) {
				o.Result = Fault
			}
			d.Sent(now, &call, s.Attempt)
			s = d.Ended(now, &call, s.Attempt, o)
		}
		if i >= warm {
			attempts += call.Attempts()
			if s.Do == Answer {
				answered++
			}
		}
	}
	return float64(attempts) / (all - warm), float64(answered) / (all - warm)
}

// After Brooker, "Fixing retries with token buckets and circuit breakers" (2022):
// plain retries cost four times the work when all fails; a token bucket is as good
// when little does and costs nothing when all does, however many clients share the
// load; breakers of many small clients see too little each to help.
func TestWhatRetriesCostAndBringAtEachFailureRate(t *testing.T) {
	const file = "testdata/sweep.txt"
	rates, crowds := []int{0, 1, 5, 10, 20, 50, 80, 100}, []int{1, 10, 100, 1000}
	if testing.Short() {
		crowds = []int{1, 100}
	}
	var b strings.Builder
	fmt.Fprintln(&b, "1,000 calls a second; up to 3 retries; attempts for each call, and calls answered, %")
	got := map[string][2]float64{}
	for _, n := range crowds {
		fmt.Fprintf(&b, "\n%-12s", fmt.Sprint(n, " clients"))
		for _, p := range sweepPolicies() {
			fmt.Fprintf(&b, "%14s", p.name)
		}
		fmt.Fprintln(&b)
		for _, f := range rates {
			fmt.Fprintf(&b, "%3d %% fail  ", f)
			for _, p := range sweepPolicies() {
				load, success := sweep(t, p.Policy, n, f)
				got[fmt.Sprint(n, p.name, f)] = [2]float64{load, success}
				fmt.Fprintf(&b, "%8.2f %5.1f", load, success*100)
			}
			fmt.Fprintln(&b)
		}
	}
	for _, n := range crowds {
		tokens := func(f int) [2]float64 { return got[fmt.Sprint(n, "tokens", f)] }
		if load := tokens(100)[0]; load > 1.1 {
			t.Errorf("%d clients: %.2f attempts a call when all fail; want 1.1 at most", n, load)
		}
		if load := got[fmt.Sprint(n, "default", 100)][0]; load > 1.11 {
			t.Errorf("%d clients: %.2f attempts a call with the default budget when all fail", n, load)
		}
		if plain := got[fmt.Sprint(n, "plain", 1)][1]; tokens(1)[1] < plain-0.01 {
			t.Errorf("%d clients: %.4f answered when 1 %% fails, %.4f with plain retries", n, tokens(1)[1], plain)
		}
		if load := got[fmt.Sprint(n, "plain", 100)][0]; load != 4 {
			t.Errorf("%d clients: %.2f attempts a call with plain retries when all fail: there is nothing to show", n, load)
		}
	}
	if testing.Short() {
		return
	}
	if *update {
		if err := os.WriteFile(file, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if b.String() != string(want) {
		t.Errorf("not as in %s; -update rewrites it:\n%s", file, b.String())
	}
}
