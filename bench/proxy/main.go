package main

import (
	"flag"
	"fmt"
	"os"
	"time"

	"github.com/spillway-dev/spillway/bench/internal/table"
	"github.com/spillway-dev/spillway/bench/internal/wrk"
)

const connections = 64

func main() {
	rounds := flag.Int("rounds", 7, "how often every arm is run")
	length := flag.Duration("length", 5*time.Second, "length of one run of one arm, in whole seconds")
	gate := flag.Bool("gate", true, "exit with 3 if a target is missed")
	flag.Parse()
	code, err := run(*rounds, *length, *gate)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(code)
}

func run(rounds int, length time.Duration, gate bool) (int, error) {
	arms, stop, err := start()
	defer stop()
	if err != nil {
		return 0, err
	}
	for _, a := range arms { // connections are made, code is warm
		if _, err := a.run(time.Second); err != nil {
			return 0, err
		}
	}
	j := newJudge()
	for round := range rounds {
		figures := map[string]figure{}
		for i := range arms {
			a := arms[(i+round)%len(arms)] // nobody always goes first
			f, err := a.run(length)
			if err != nil {
				return 0, err
			}
			fmt.Fprintf(os.Stderr, "round %d of %d: %-15s %8.0f/s  %7.1f us CPU a request  p50 %v  p99 %v\n",
				round+1, rounds, a.name, f.PerSecond, f.cpu, f.P50, f.P99)
			figures[a.name] = f
		}
		j.add(figures)
	}
	return j.table.Finish(gate), nil
}

// figure is what one run of one arm gave.
type figure struct {
	wrk.Result
	cpu float64 // µs a request
}

// judge holds what the arms are compared by.
type judge struct {
	table table.Table
	rows  []row
}

type row struct {
	*table.Row
	ours, against string
	of            func(figure) float64
}

func newJudge() *judge {
	j := &judge{}
	j.table.Title = "Proxy"
	j.table.Note("wrk, one thread, %d kept-alive connections, answers of 256 bytes, all on one machine: requests per second depend on what wrk and the upstream leave over, CPU per request hardly does.", connections)
	j.table.Note("What admission costs is judged by `go run ./admission`, where it is not lost in the noise between processes; here it is reported.")
	cpu := func(f figure) float64 { return f.cpu }
	rate := func(f figure) float64 { return f.PerSecond }
	ms := func(d time.Duration) float64 { return d.Seconds() * 1000 }
	p50 := func(f figure) float64 { return ms(f.P50) }
	p99 := func(f figure) float64 { return ms(f.P99) }
	none := table.Target{}
	add := func(what, unit string, kind table.Kind, target table.Target, of func(figure) float64, ours, against string) {
		j.rows = append(j.rows, row{j.table.Row(what, unit, kind, target), ours, against, of})
	}
	add("CPU per request: how many times better than caddy", "us", table.Inverse, table.AtLeast(1.4), cpu, gatewayArm, caddyArm)
	add("requests per second / caddy", "/s", table.Ratio, table.AtLeast(1.2), rate, gatewayArm, caddyArm)
	add("p50 / caddy", "ms", table.Ratio, none, p50, gatewayArm, caddyArm)
	add("p99 / caddy", "ms", table.Ratio, none, p99, gatewayArm, caddyArm)
	add("CPU per request over the same engine without admission", "us", table.Difference, none, cpu, gatewayArm, engineArm)
	add("requests per second / the same engine without admission", "/s", table.Ratio, none, rate, gatewayArm, engineArm)
	add("CPU per request / tuned httputil.ReverseProxy", "us", table.Ratio, none, cpu, gatewayArm, tunedArm)
	add("requests per second / tuned httputil.ReverseProxy", "/s", table.Ratio, none, rate, gatewayArm, tunedArm)
	add("CPU of a shed request / a request through the tuned httputil.ReverseProxy", "us", table.Ratio, table.AtMost(0.4), cpu, shedArm, tunedArm)
	add("CPU of a shed request / plain net/http 503", "us", table.Ratio, none, cpu, shedArm, refuseArm)
	add("shed requests per second / plain net/http 503", "/s", table.Ratio, none, rate, shedArm, refuseArm)
	add("p99 of shed requests / plain net/http 503", "ms", table.Ratio, none, p99, shedArm, refuseArm)
	return j
}

func (j *judge) add(figures map[string]figure) {
	for _, r := range j.rows {
		r.Add(r.of(figures[r.ours]), r.of(figures[r.against]))
	}
}
