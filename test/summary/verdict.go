package main

import (
	"bufio"
	"cmp"
	"fmt"
	"os"
	"path"
	"slices"
	"strings"
)

// slowest is how many packages are named as the slowest.
const slowest = 8

// A Verdict says how to judge a run.
type Verdict struct {
	Strict  bool      // a skip is a failure
	Allowed []allowed // skips that are none
	Failed  []string  // steps outside go test that failed
	Skipped []string  // steps outside go test that were skipped, "name: why"
}

// allowed is a skip that cannot be avoided.
type allowed struct{ pattern, why string }

// counts are the figures of the closing line.
type counts struct{ passed, failed, skipped int }

// Close prints the end of the run and reports whether it is a success: something
// ran and nothing failed.
func (r *Run) Close(v Verdict) bool {
	var total counts
	var skips []string
	skip := func(what string) {
		why, ok := v.excuse(what)
		switch {
		case ok:
			total.skipped++
			skips = append(skips, what+"\n      allowed: "+why)
		case v.Strict:
			total.failed++
			fmt.Fprintf(r.out, "\nFAIL skipped, and in CI a skip is a failure: %s\n", what)
		default:
			total.skipped++
			skips = append(skips, what)
		}
	}
	for _, name := range r.order {
		r.closePackage(r.packages[name], &total, skip)
	}
	for _, step := range v.Failed {
		total.failed++
		fmt.Fprintf(r.out, "\nFAIL step %s; its output is above\n", step)
	}
	for _, step := range v.Skipped {
		skip("step " + step)
	}
	r.slowest()
	if len(skips) > 0 {
		fmt.Fprintf(r.out, "\nskipped:\n")
		for _, s := range skips {
			fmt.Fprintf(r.out, "  %s\n", s)
		}
	}
	if total.passed == 0 && total.failed == 0 {
		total.failed++
		fmt.Fprintf(r.out, "\nFAIL no test ran\n")
	}
	fmt.Fprintf(r.out, "\n%d passed, %d failed, %d skipped\n", total.passed, total.failed, total.skipped)
	return total.failed == 0
}

func (r *Run) closePackage(p *packageResult, total *counts, skip func(string)) {
	failures := 0
	fail := func(what string, output []string) {
		failures++
		total.failed++
		fmt.Fprintf(r.out, "\nFAIL %s\n", what)
		for _, line := range output {
			fmt.Fprintf(r.out, "    %s\n", strings.TrimRight(line, "\n"))
		}
	}
	for _, name := range p.order {
		t := p.tests[name]
		switch {
		case t.state == "fail" && (!t.parent || !p.failsBelow(name)):
			fail(p.name+" "+name, t.output)
		case t.state == "" && !t.parent && p.state != "pass":
			fail(p.name+" "+name+" did not end", t.output)
		case t.parent:
		case t.state == "pass":
			total.passed++
		case t.state == "skip":
			skip(p.name + " " + name + ": " + reason(t.output))
		}
	}
	switch {
	case p.state == "fail" && p.failedBuild != "":
		fail(p.name+" did not build", r.builds[p.failedBuild])
	case p.state == "fail" && failures == 0, p.state == "":
		fail(p.name, p.output)
	}
}

// failsBelow reports whether a subtest of the named test failed or never ended.
func (p *packageResult) failsBelow(name string) bool {
	return slices.ContainsFunc(p.order, func(other string) bool {
		state := p.tests[other].state
		return strings.HasPrefix(other, name+"/") && (state == "fail" || state == "")
	})
}

func (r *Run) slowest() {
	ran := slices.DeleteFunc(slices.Clone(r.order), func(name string) bool { return r.packages[name].seconds < 1 })
	slices.SortStableFunc(ran, func(a, b string) int {
		return cmp.Compare(r.packages[b].seconds, r.packages[a].seconds)
	})
	if len(ran) == 0 {
		return
	}
	fmt.Fprintf(r.out, "\nslowest packages:\n")
	for _, name := range ran[:min(slowest, len(ran))] {
		fmt.Fprintf(r.out, "  %6.1fs %s\n", r.packages[name].seconds, name)
	}
}

// reason finds in a skipped test's output what it was skipped for.
func reason(output []string) string {
	var said []string
	for _, line := range output {
		line = strings.TrimSpace(line)
		if line != "" && !strings.HasPrefix(line, "=== ") && !strings.HasPrefix(line, "--- ") {
			said = append(said, line)
		}
	}
	if len(said) == 0 {
		return "no reason given"
	}
	return strings.Join(said, " ")
}

// excuse looks for an allowed skip that matches, and returns its reason.
func (v Verdict) excuse(what string) (why string, ok bool) {
	name, _, _ := strings.Cut(what, ": ")
	for _, a := range v.Allowed {
		if match, err := path.Match(a.pattern, name); err == nil && match {
			return a.why, true
		}
	}
	return "", false
}

// readAllowed reads lines of the form "pattern: why". The pattern is matched, as
// by [path.Match], against "import/path Test/sub" or "step name". Empty lines and
// those that begin with # are left out.
func readAllowed(name string) ([]allowed, error) {
	if name == "" {
		return nil, nil
	}
	file, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	var list []allowed
	lines := bufio.NewScanner(file)
	for n := 1; lines.Scan(); n++ {
		line := strings.TrimSpace(lines.Text())
		if line == "" || line[0] == '#' {
			continue
		}
		pattern, why, ok := strings.Cut(line, ": ")
		if !ok || strings.TrimSpace(why) == "" {
			return nil, fmt.Errorf("%s:%d: want `pattern: why`, have %q", name, n, line)
		}
		if _, err := path.Match(pattern, ""); err != nil {
			return nil, fmt.Errorf("%s:%d: pattern %q: %w", name, n, pattern, err)
		}
		list = append(list, allowed{pattern, why})
	}
	return list, lines.Err()
}
