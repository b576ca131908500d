package main

import (
	"fmt"
	"strconv"
	"strings"
)

// result is one line of a benchmark's output.
type result struct {
	ns, allocs float64
}

// parse reads what a test binary prints into results, by name and processors:
// "AdmitGate" at -cpu 1, "AdmitGate-2" at -cpu 2.
func parse(out string, results map[string]result) error {
	for line := range strings.Lines(out) {
		f := strings.Fields(line)
		if len(f) < 4 || !strings.HasPrefix(f[0], "Benchmark") {
			continue
		}
		var r result
		for i := 2; i+1 < len(f); i += 2 {
			n, err := strconv.ParseFloat(f[i], 64)
			if err != nil {
				return fmt.Errorf("benchmark line %q: %w", line, err)
			}
			switch f[i+1] {
			case "ns/op":
				r.ns = n
			case "allocs/op":
				r.allocs = n
			}
		}
		results[strings.TrimPrefix(f[0], "Benchmark")] = r
	}
	return nil
}
