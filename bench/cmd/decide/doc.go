// Command decide runs the benchmarks of packages decision and calls in rounds, at -cpu 1
// and 2, and judges the ratios of figures of the same round:
//
//	go run ./cmd/decide            # 9 rounds, exit 3 if a target is missed
//	go run ./cmd/decide -rounds 3 -benchtime 50ms -gate=false
//
// It prints a Markdown table on standard output and progress on standard error.
package main
