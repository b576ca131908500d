package main

import (
	"fmt"

	"github.com/spillway-dev/spillway/bench/internal/table"
)

// comparison is a row of the table: which benchmark is held against which.
type comparison struct {
	what          string
	ours, against string
	target        table.Target
	twice         bool // at -cpu 2 too
}

// comparisons are the targets. Serial benchmarks (policy has no lock) are held
// against the peer at -cpu 1 only, or the peer alone would pay for sharing.
var comparisons = []comparison{
	{"pool.Slots take + give / x/sync semaphore", "SlotsPool", "SlotsXSync", table.AtMost(1.5), false},
	{"pool.Slots behind a lock / x/sync semaphore", "SlotsPoolLocked", "SlotsXSync", table.AtMost(1.5), true},
	{"gate admit + release, time passed in / failsafe-go executor around a bulkhead", "AdmitGate", "AdmitFailsafe", table.AtMost(0.15), true},
	{"gate admit + release, two clock reads / the same", "AdmitGateClock", "AdmitFailsafe", table.Target{}, true},
	{"gate admit + release under a limit that adapts, time passed in / failsafe-go's adaptive limiter", "AdaptiveGate", "AdaptiveFailsafe", table.AtMost(0.35), true},
	{"gate admit + release under a limit that adapts, two clock reads / the same", "AdaptiveGateClock", "AdaptiveFailsafe", table.Target{}, true},
	{"policy's refusal / failsafe-go bulkhead's refusal", "RefusePolicy", "RefuseFailsafe", table.AtMost(1), false},
	{"gate's refusal / gate admit + release", "RefuseGate", "AdmitGate", table.AtMost(1), true},
	{"wrr, slots free, 1,000 tenants / Kubernetes queue set, seats free", "FairFree", "FairKubernetes", table.AtMost(0.05), false},
	{"wrr, every request queued behind 1,000 tenants / the same", "FairQueued", "FairKubernetes", table.AtMost(0.05), false},
	{"100,000 known tenants / 1,000 known, 1,000 active", "Known/100000", "Known/1000", table.AtMost(1.3), false},
	{"1,000,000 known tenants / 1,000 known, 1,000 active", "Known/1000000", "Known/1000", table.AtMost(1.3), false},
	{"1,000,000 known tenants, 1,000 active / 10 known, 10 active", "Known/1000000", "Known/10", table.Target{}, false},
	{"1,000,000 idle tenants remembered, 1,000 active / 1,000 known, 1,000 active", "Remembered", "Known/1000", table.Target{}, false},
	{"1,000,000 idle tenants remembered, every thousandth active / 1,000 known, 1,000 active", "Spread", "Known/1000", table.Target{}, false},
	{"a call without a timer or a hedge / failsafe-go's retry, breaker and bulkhead", "CallPlain", "CallPlainFailsafe", table.AtMost(0.15), false},
	{"a verdict that sheds, of a known gap and one of 1,000 sessions / failsafe-go's retry, breaker and bulkhead", "Shed", "CallPlainFailsafe", table.AtMost(0.1), false},
	{"a verdict from leases of three budgets / failsafe-go's retry, breaker and bulkhead", "Lease", "CallPlainFailsafe", table.AtMost(0.2), false},
	{"a call with deadline, limit, retries, breaker and a hedge armed / failsafe-go's retry, breaker and timeout", "CallFull", "CallFullFailsafe", table.AtMost(0.35), true},
	{"the same call without the hedge / the same", "CallLimit", "CallFullFailsafe", table.Target{}, true},
	{"uniform over 1,000,000 tenants / 1,000 known, 1,000 active", "Uniform", "Known/1000", table.Target{}, false},
}

// concurrent are the benchmarks that -cpu 2 means something to.
const concurrent = "^Benchmark(Cores|SlotsXSync|SlotsPoolLocked|Admit.*|Adaptive.*|RefuseGate|Call.*)$"

// free are the benchmarks of ours that may not allocate.
var free = []string{"SlotsPool", "SlotsPoolLocked", "AdmitGate", "AdmitGateClock", "AdaptiveGate", "AdaptiveGateClock", "RefusePolicy", "RefuseGate", "CallPlain", "Shed", "Lease", "FairFree", "FairQueued", "Known/1000000", "Remembered", "Spread", "Uniform"}

type judge struct {
	table  table.Table
	cores  *table.Row
	rows   map[string]*table.Row
	allocs *table.Row
}

func newJudge() *judge {
	j := &judge{rows: map[string]*table.Row{}}
	j.table.Title = "Decisions"
	j.table.Note("Both columns are medians of ns per operation. Ratios are of the same round, in which ours and theirs run within seconds of each other.")
	j.table.Note("policy has no lock, being driven under its driver's; the row behind a lock is on the semaphore's own terms.")
	j.cores = j.table.Row("a line of memory from one core to the other: the machine's own, -cpu 2", "ns", table.Value, table.Target{})
	for _, c := range comparisons {
		for _, cpu := range c.cpus() {
			j.rows[c.ours+c.against+cpu] = j.table.Row(c.what+", "+label(cpu), "ns", table.Ratio, c.target)
		}
	}
	j.allocs = j.table.Row("allocations per operation, the most of any of ours", "", table.Value, table.AtMost(0))
	return j
}

// cpus returns the suffixes of the benchmarks' names that are compared.
func (c comparison) cpus() []string {
	if c.twice {
		return []string{"", "-2"}
	}
	return []string{""}
}

func label(suffix string) string {
	if suffix == "" {
		return "-cpu 1"
	}
	return "-cpu 2"
}

// add takes in a round.
func (j *judge) add(results map[string]result) error {
	find := func(name string) (result, error) {
		r, ok := results[name]
		if !ok {
			return r, fmt.Errorf("no result for benchmark %s", name)
		}
		return r, nil
	}
	cores, err := find("Cores-2")
	if err != nil {
		return err
	}
	j.cores.Add(cores.ns, 0)
	for _, c := range comparisons {
		for _, cpu := range c.cpus() {
			ours, err := find(c.ours + cpu)
			if err != nil {
				return err
			}
			against, err := find(c.against + cpu)
			if err != nil {
				return err
			}
			j.rows[c.ours+c.against+cpu].Add(ours.ns, against.ns)
		}
	}
	most := 0.0
	for _, name := range free {
		r, err := find(name)
		if err != nil {
			return err
		}
		most = max(most, r.allocs)
	}
	j.allocs.Add(most, 0)
	return nil
}
