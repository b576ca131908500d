package main

import (
	"strings"
	"testing"
)

func TestParse(t *testing.T) {
	got := map[string]result{}
	err := parse(`goos: linux
BenchmarkKnown/10     	  337423	       168.8 ns/op	       0 B/op	       0 allocs/op
BenchmarkKnown/10-2   	  337423	       100 ns/op	       8 B/op	       1 allocs/op
PASS
`, got)
	if err != nil || len(got) != 2 || got["Known/10"] != (result{168.8, 0}) || got["Known/10-2"] != (result{100, 1}) {
		t.Errorf("%v, %v", got, err)
	}
	if err := parse("BenchmarkX 1 many ns/op\n", got); err == nil {
		t.Error("no complaint about a figure that is none")
	}
}

// TestMissing shows that a benchmark that was not run is an error, not a row
// that holds.
func TestMissing(t *testing.T) {
	if err := newJudge().add(map[string]result{"Cores-2": {ns: 100}, "SlotsPool": {ns: 1}}); err == nil || !strings.Contains(err.Error(), "SlotsXSync") {
		t.Errorf("got %v", err)
	}
}

// TestJudge has theirs cost 100 ns each and ours 10, and one of ours allocate.
func TestJudge(t *testing.T) {
	results := map[string]result{"Cores-2": {ns: 100}}
	for _, c := range comparisons {
		for _, cpu := range c.cpus() {
			results[c.against+cpu] = result{ns: 100}
		}
	}
	for _, c := range comparisons {
		for _, cpu := range c.cpus() {
			results[c.ours+cpu] = result{ns: 10}
		}
	}
	for _, name := range free {
		results[name] = result{ns: 10, allocs: 1}
	}
	j := newJudge()
	if err := j.add(results); err != nil {
		t.Fatal(err)
	}
	if !j.allocs.Missed() {
		t.Error("an allocation does not miss the target")
	}
	if r := j.rows["AdmitGateAdmitFailsafe-2"]; r.Missed() || r.Measure() != 0.1 {
		t.Errorf("0.1 of failsafe-go misses 0.15: %v", r.Measure())
	}
	if r := j.rows["FairFreeFairKubernetes"]; !r.Missed() {
		t.Error("0.1 of Kubernetes' queue set holds 0.05")
	}
}
