package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"time"

	"github.com/spillway-dev/spillway/bench/internal/child"
	"github.com/spillway-dev/spillway/bench/internal/table"
)

// options are what a generator is told.
type options struct {
	url      string
	rate     float64
	length   time.Duration
	arrivals string
	seed     uint64
}

func main() {
	var o options
	rounds := flag.Int("rounds", 5, "how often each generator runs each schedule")
	gate := flag.Bool("gate", true, "exit with 3 if a target is missed")
	role := flag.String("role", "", "be a generator: ours or vegeta; prints its lag as JSON")
	flag.StringVar(&o.url, "url", "", "of the target, for -role")
	flag.Float64Var(&o.rate, "rate", 5000, "requests a second")
	flag.DurationVar(&o.length, "length", 3*time.Second, "of one run")
	flag.StringVar(&o.arrivals, "arrivals", "poisson", "for -role: poisson or constant")
	flag.Uint64Var(&o.seed, "seed", 1, "for -role: of the schedule")
	flag.Parse()

	code, err := 0, error(nil)
	if *role == "" {
		code, err = run(o, *rounds, *gate)
	} else {
		err = play(*role, o)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(code)
}

// outcome is what a generator says of itself.
type outcome struct {
	LagP50, LagP99 float64 // ms
	PerSecond      float64 // sent
	Failed         int64   // not answered with 200
}

func play(role string, o options) error {
	generators := map[string]func(options) (outcome, error){"ours": ours, "vegeta": vegetas}
	generate, ok := generators[role]
	if !ok {
		return fmt.Errorf("-role %q is not one of ours, vegeta", role)
	}
	result, err := generate(o)
	if err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(result)
}

func run(o options, rounds int, gate bool) (int, error) {
	if runtime.NumCPU() < 2 {
		return 0, fmt.Errorf("one core: a generator and its target need one each")
	}
	dir, err := os.MkdirTemp("", "spillway-bench-")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(dir)
	peer, err := child.Build(dir, "cmd/peer")
	if err != nil {
		return 0, err
	}
	target, err := child.Start("target", []string{"GOMAXPROCS=1"}, "taskset", "-c", "1", peer, "upstream")
	if err != nil {
		return 0, err
	}
	defer target.Stop()
	o.url = "http://" + target.Addr + "/"

	t := table.Table{Title: "Load generator"}
	t.Note("%g requests/s for %v a run, generator on core 0 with GOMAXPROCS=1, net/http target on core 1; vegeta has 256 workers and is paced by the same schedule. Lag is counted from the schedule, which vegeta's own report does not do.", o.rate, o.length)
	for _, arrivals := range []string{"poisson", "constant"} {
		o.arrivals = arrivals
		p99 := t.Row("lag p99, "+arrivals, "ms", table.Value, table.AtMost(1))
		ratio := t.Row("lag p99 / vegeta's, "+arrivals, "ms", table.Ratio, table.AtMost(0.25))
		p50 := t.Row("lag p50 / vegeta's, "+arrivals, "ms", table.Ratio, table.Target{})
		sent := t.Row("sent per second / vegeta, "+arrivals, "/s", table.Ratio, table.Target{})
		for round := range rounds {
			o.seed = uint64(round + 1)
			a, err := o.generate("ours")
			if err != nil {
				return 0, err
			}
			b, err := o.generate("vegeta")
			if err != nil {
				return 0, err
			}
			fmt.Fprintf(os.Stderr, "round %d of %d, %s: lag p99 %.3f ms, vegeta %.3f ms\n", round+1, rounds, arrivals, a.LagP99, b.LagP99)
			p99.Add(a.LagP99, 0)
			ratio.Add(a.LagP99, b.LagP99)
			p50.Add(a.LagP50, b.LagP50)
			sent.Add(a.PerSecond, b.PerSecond)
			if a.Failed > 0 || b.Failed > 0 {
				t.Note("Round %d, %s: %d of our requests and %d of vegeta's were not answered with 200.", round+1, arrivals, a.Failed, b.Failed)
			}
		}
	}
	return t.Finish(gate), nil
}

// generate runs a generator in a process of its own on core 0.
func (o options) generate(role string) (outcome, error) {
	self, err := os.Executable()
	if err != nil {
		return outcome{}, err
	}
	cmd := exec.Command("taskset", "-c", "0", self, "-role", role, "-url", o.url, "-arrivals", o.arrivals,
		"-rate", strconv.FormatFloat(o.rate, 'g', -1, 64), "-length", o.length.String(), "-seed", strconv.FormatUint(o.seed, 10))
	cmd.Env = append(os.Environ(), "GOMAXPROCS=1")
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return outcome{}, fmt.Errorf("%s: %w", role, err)
	}
	var result outcome
	return result, json.Unmarshal(out, &result)
}
