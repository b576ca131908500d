package main

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/spillway-dev/spillway/bench/internal/child"
	"github.com/spillway-dev/spillway/bench/internal/table"
)

func main() {
	runtime.GOMAXPROCS(1)
	rounds := flag.Int("rounds", 7, "how often every load is played")
	requests := flag.Int("requests", 1_000_000, "of one play")
	long := flag.Int("long", 10_000_000, "requests of the run whose memory is looked at")
	gate := flag.Bool("gate", true, "exit with 3 if a target is missed")
	memory := flag.Int("memory", 0, "play so many requests, print the process's peak memory in bytes, and nothing else")
	flag.Parse()
	var code int
	var err error
	if *memory > 0 {
		err = printPeak(*memory)
	} else {
		code, err = run(*rounds, *requests, *long, *gate)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(code)
}

var loads = []float64{0.8, 0.95, 1.3}

func run(rounds, requests, long int, gate bool) (int, error) {
	t := table.Table{Title: "Simulator"}
	t.Note("Requests per second on one core (GOMAXPROCS=1). Ours plays deadline, feasibility, derived bound, bytes, importance, displacement, adaptive order, wrr among 100 tenants, with a report per tenant and quantiles. The idiom has two priorities and a deadline, and counts.")
	speed, against := map[float64]*table.Row{}, map[float64]*table.Row{}
	for _, load := range loads {
		speed[load] = t.Row(fmt.Sprintf("requests per second at load %g", load), "M/s", table.Value, table.AtLeast(1.3))
		against[load] = t.Row(fmt.Sprintf("the same / the container/heap idiom at load %g", load), "M/s", table.Ratio, table.Target{})
	}
	for round := range rounds {
		for _, load := range loads {
			ours, err := timed(requests, func() (int64, error) {
				r, err := runOurs(requests, load)
				if err != nil {
					return 0, err
				}
				return r.Offered, nil
			})
			if err != nil {
				return 0, err
			}
			idiom, err := timed(requests, func() (int64, error) {
				runIdiom(requests, load)
				return int64(requests), nil
			})
			if err != nil {
				return 0, err
			}
			fmt.Fprintf(os.Stderr, "round %d of %d, load %.2f: %.2f M/s, idiom %.2f M/s\n", round+1, rounds, load, ours, idiom)
			speed[load].Add(ours, 0)
			against[load].Add(ours, idiom)
		}
	}
	short := max(1, long/10)
	fmt.Fprintf(os.Stderr, "memory of %d and of %d requests\n", short, long)
	few, err := peak(short)
	if err != nil {
		return 0, err
	}
	many, err := peak(long)
	if err != nil {
		return 0, err
	}
	t.Row(fmt.Sprintf("peak memory of %d requests / of %d", long, short), "MiB", table.Ratio, table.AtMost(1.25)).Add(many, few)
	return t.Finish(gate), nil
}

// timed plays and returns millions of requests a second.
func timed(requests int, play func() (int64, error)) (float64, error) {
	runtime.GC() // nobody pays for the one before
	begin := time.Now()
	n, err := play()
	took := time.Since(begin)
	if err == nil && (n < int64(requests)*9/10 || n > int64(requests)*11/10) {
		err = fmt.Errorf("%d requests were played instead of about %d", n, requests)
	}
	return float64(n) / took.Seconds() / 1e6, err
}

// peak plays in a process of its own and returns the most memory it held, MiB.
func peak(requests int) (float64, error) {
	self, err := os.Executable()
	if err != nil {
		return 0, err
	}
	out, err := exec.Command(self, "-memory", strconv.Itoa(requests)).Output()
	if err != nil {
		return 0, fmt.Errorf("a run of %d requests: %w", requests, err)
	}
	bytes, err := strconv.ParseInt(strings.TrimSpace(string(out)), 10, 64)
	return float64(bytes) / (1 << 20), err
}

// printPeak plays at a load that keeps the room full.
func printPeak(requests int) error {
	if _, err := runOurs(requests, 1.3); err != nil {
		return err
	}
	bytes, err := child.PeakRSS()
	fmt.Println(bytes)
	return err
}
