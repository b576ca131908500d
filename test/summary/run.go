package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"strings"
)

// event is a line of `go test -json`; see `go doc test2json`.
type event struct {
	Action      string
	Package     string
	ImportPath  string // of a build's events, instead of Package
	Test        string
	Elapsed     float64 // seconds
	Output      string
	FailedBuild string
}

// Run collects the results of packages and tests as they come in.
type Run struct {
	out      io.Writer
	packages map[string]*packageResult
	order    []string            // packages, as first seen
	builds   map[string][]string // what the compiler said, by import path
}

type packageResult struct {
	name        string
	state       string // pass, fail, skip; "" while it runs
	seconds     float64
	failedBuild string
	output      []string // of the package itself
	tests       map[string]*testResult
	order       []string
}

type testResult struct {
	state  string // pass, fail, skip; "" if it never ended
	output []string
	parent bool // has subtests
}

// NewRun makes a run that reports packages to out as they end.
func NewRun(out io.Writer) *Run {
	return &Run{out: out, packages: map[string]*packageResult{}, builds: map[string][]string{}}
}

// Read takes in events until the input ends. A line that is no event is passed
// on as it is: `go test` mixes in what it has to say itself.
func (r *Run) Read(in io.Reader) error {
	lines := bufio.NewReader(in)
	for {
		line, err := lines.ReadBytes('\n')
		if len(line) > 0 {
			var e event
			if json.Unmarshal(line, &e) == nil && e.Action != "" {
				r.take(e)
			} else {
				fmt.Fprintf(r.out, "%s\n", strings.TrimRight(string(line), "\n"))
			}
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

func (r *Run) take(e event) {
	if strings.HasPrefix(e.Action, "build-") {
		if e.Output != "" {
			r.builds[e.ImportPath] = append(r.builds[e.ImportPath], e.Output)
		}
		return
	}
	p := r.packageOf(e.Package)
	if e.Test == "" {
		p.take(e)
		if e.Action == "pass" || e.Action == "fail" { // a skip is a package without tests
			fmt.Fprintf(r.out, "%-4s %s %.1fs\n", p.state, p.name, p.seconds)
		}
		return
	}
	t := p.testOf(e.Test)
	switch e.Action {
	case "output":
		t.output = append(t.output, e.Output)
	case "pass":
		t.state, t.output = e.Action, nil
	case "fail", "skip":
		t.state = e.Action
	}
}

func (p *packageResult) take(e event) {
	switch e.Action {
	case "output":
		p.output = append(p.output, e.Output)
	case "pass", "fail", "skip":
		p.state, p.seconds, p.failedBuild = e.Action, e.Elapsed, e.FailedBuild
	}
}

func (r *Run) packageOf(name string) *packageResult {
	p := r.packages[name]
	if p == nil {
		p = &packageResult{name: name, tests: map[string]*testResult{}}
		r.packages[name] = p
		r.order = append(r.order, name)
	}
	return p
}

// testOf returns the test's result and marks its ancestors as having subtests.
func (p *packageResult) testOf(name string) *testResult {
	t := p.tests[name]
	if t == nil {
		t = &testResult{}
		p.tests[name] = t
		p.order = append(p.order, name)
		if i := strings.LastIndexByte(name, '/'); i >= 0 {
			p.testOf(name[:i]).parent = true
		}
	}
	return t
}
