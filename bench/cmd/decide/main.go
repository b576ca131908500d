package main

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/spillway-dev/spillway/bench/internal/child"
)

func main() {
	rounds := flag.Int("rounds", 9, "how often every benchmark is run")
	benchtime := flag.String("benchtime", "100ms", "length of one benchmark, as go test -benchtime")
	gate := flag.Bool("gate", true, "exit with 3 if a target is missed")
	flag.Parse()
	code, err := run(*rounds, *benchtime, *gate)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(code)
}

func run(rounds int, benchtime string, gate bool) (int, error) {
	dir, err := os.MkdirTemp("", "spillway-bench-")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(dir)
	packages := []string{"decision", "calls"}
	for _, name := range packages {
		if out, err := exec.Command("go", "test", "-c", "-o", filepath.Join(dir, name), child.Module+"/"+name).CombinedOutput(); err != nil {
			return 0, fmt.Errorf("go test -c: %w\n%s", err, out)
		}
	}
	judge := newJudge()
	for round := range rounds {
		fmt.Fprintf(os.Stderr, "round %d of %d\n", round+1, rounds)
		results := map[string]result{}
		for _, name := range packages {
			for cpus, names := range map[string]string{"1": ".", "2": concurrent} {
				var out bytes.Buffer
				cmd := exec.Command(filepath.Join(dir, name), "-test.run", "^$", "-test.bench", names, "-test.benchtime", benchtime, "-test.cpu", cpus)
				cmd.Stdout, cmd.Stderr = &out, os.Stderr
				if err := cmd.Run(); err != nil {
					return 0, fmt.Errorf("round %d: %w\n%s", round+1, err, out.String())
				}
				if err := parse(out.String(), results); err != nil {
					return 0, err
				}
			}
		}
		if err := judge.add(results); err != nil {
			return 0, err
		}
	}
	return judge.table.Finish(gate), nil
}
