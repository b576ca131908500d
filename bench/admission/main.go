package main

import (
	"flag"
	"fmt"
	"os"

	"github.com/spillway-dev/spillway/bench/internal/table"
)

func main() {
	rounds := flag.Int("rounds", 101, "how many pairs of blocks")
	block := flag.Int("block", 4000, "requests in a block")
	callers := flag.Int("callers", 16, "connections that send at once")
	gate := flag.Bool("gate", true, "exit with 3 if the target is missed")
	profile := flag.String("profile", "", "write a CPU profile of the whole run to this file")
	flag.Parse()
	code, err := run(*rounds, *block, *callers, *gate, *profile)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(code)
}

func run(rounds, block, callers int, gate bool, profile string) (int, error) {
	if profile != "" {
		stop, err := startProfile(profile)
		if err != nil {
			return 0, err
		}
		defer stop()
	}
	s, err := serve()
	if err != nil {
		return 0, err
	}
	defer s.close()
	with, err := dial(s.gateway, callers)
	if err != nil {
		return 0, err
	}
	defer with.close()
	without, err := dial(s.engine, callers)
	if err != nil {
		return 0, err
	}
	defer without.close()

	t := table.Table{Title: "Admission"}
	t.Note("Microseconds of processor time per request of a process that is caller, proxy and upstream at once; %d pairs of blocks of %d requests, %d connections. Only the difference means anything.", rounds, block, callers)
	row := t.Row("a request through the gateway over one through the same engine without admission", "us", table.Difference, table.AtMost(5))
	for round := range rounds + 2 {
		sides := []*fleet{with, without}
		if round%2 == 1 {
			sides[0], sides[1] = sides[1], sides[0]
		}
		cost := map[*fleet]float64{}
		for _, side := range sides {
			if cost[side], err = side.block(block); err != nil {
				return 0, err
			}
		}
		if round >= 2 { // warm
			row.Add(cost[with], cost[without])
		}
		if round%10 == 0 {
			fmt.Fprintf(os.Stderr, "round %d of %d: %.1f us, without admission %.1f us\n", round, rounds, cost[with], cost[without])
		}
	}
	return t.Finish(gate), nil
}
