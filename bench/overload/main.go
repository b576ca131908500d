package main

import (
	"flag"
	"fmt"
	"os"
	"time"

	"github.com/spillway-dev/spillway/bench/internal/child"
	"github.com/spillway-dev/spillway/bench/internal/table"
)

func main() {
	rounds := flag.Int("rounds", 3, "how often every case is run")
	length := flag.Duration("length", 20*time.Second, "of one case's offered load")
	gate := flag.Bool("gate", true, "exit with 3 if a target is missed")
	flag.Parse()
	code, err := run(*rounds, *length, *gate)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(code)
}

// service is what is protected.
type service struct {
	slots  int
	time   time.Duration
	spread time.Duration // of time, evenly to either side
	budget time.Duration // of latency; also the deadline
}

// nominal is what the service can do by arithmetic, in requests a second.
func (s service) nominal() float64 { return float64(s.slots) / s.time.Seconds() }

func (s service) String() string {
	if s.spread == 0 {
		return fmt.Sprintf("%d slots of exactly %v", s.slots, s.time)
	}
	return fmt.Sprintf("%d slots of %v ± %v", s.slots, s.time, s.spread)
}

// services are sized so that ten times their capacity is at most 5,000/s.
var services = []service{
	{40, 100 * time.Millisecond, 20 * time.Millisecond, 300 * time.Millisecond},
	{40, 100 * time.Millisecond, 0, 300 * time.Millisecond},
	{5, 10 * time.Millisecond, 2 * time.Millisecond, 50 * time.Millisecond},
}

func run(rounds int, length time.Duration, gate bool) (int, error) {
	dir, err := os.MkdirTemp("", "spillway-bench-")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(dir)
	b := bench{dir: dir, length: length}
	if b.peer, err = child.Build(dir, "cmd/peer"); err != nil {
		return 0, err
	}
	if b.gateway, err = child.Build(dir, "cmd/gateway"); err != nil {
		return 0, err
	}
	t := table.Table{Title: "Overload"}
	t.Note("Cases of %v. Goodput counts primary answers inside the deadline, from the scheduled arrival, given while load was offered: a run begins with an empty service, which costs it the first 100 ms; capacity is what the service did straight and saturated in the same round. Memory is the gateway's resident set.", length)
	var cases []*overloadCase
	for i, s := range services {
		for _, factor := range []float64{2, 5, 10} {
			cases = append(cases, newOverloadCase(&t, s, factor, i == 0))
		}
	}
	flood := newFloodCase(&t, services[0])
	for round := range rounds {
		progress := func(format string, args ...any) {
			fmt.Fprintf(os.Stderr, "round %d of %d: %s\n", round+1, rounds, fmt.Sprintf(format, args...))
		}
		for _, c := range cases {
			if err := c.run(b, progress); err != nil {
				return 0, fmt.Errorf("%v, %gx: %w", c.service, c.factor, err)
			}
		}
		if err := flood.run(b, progress); err != nil {
			return 0, fmt.Errorf("flood: %w", err)
		}
	}
	return t.Finish(gate), nil
}
