package main

import (
	"flag"
	"fmt"
	"os"
	"strconv"
)

// list is a flag that may be given more than once.
type list []string

// String implements [flag.Value].
func (l *list) String() string { return fmt.Sprint(*l) }

// Set implements [flag.Value].
func (l *list) Set(value string) error {
	*l = append(*l, value)
	return nil
}

func main() {
	ci, _ := strconv.ParseBool(os.Getenv("CI"))
	strict := flag.Bool("strict", ci, "count a skip as a failure; on when CI=true")
	allow := flag.String("allow", "", "file of skips that strictness lets pass")
	var failed, skipped list
	flag.Var(&failed, "failed", "a step outside go test that failed; may be repeated")
	flag.Var(&skipped, "skipped", "a step outside go test that was skipped, as `name: why`; may be repeated")
	flag.Parse()

	allowed, err := readAllowed(*allow)
	if err != nil {
		fmt.Fprintln(os.Stderr, "summary:", err)
		os.Exit(2)
	}
	run := NewRun(os.Stdout)
	if err := run.Read(os.Stdin); err != nil {
		fmt.Fprintln(os.Stderr, "summary:", err)
		failed = append(failed, "reading the results")
	}
	if !run.Close(Verdict{Strict: *strict, Allowed: allowed, Failed: failed, Skipped: skipped}) {
		os.Exit(1)
	}
}
