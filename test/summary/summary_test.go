package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Each story is what `go test -json` says and how the run must close.
var stories = []struct {
	name    string
	events  string
	verdict Verdict
	ok      bool
	want    []string // lines that must be printed, in this order
	not     []string // text that must not be
}{
	{
		name:   "subtests count, their parent does not",
		events: pass("p", "TestA/x") + pass("p", "TestA/y") + pass("p", "TestA") + pass("p", "TestB") + end("p", "pass", 2),
		ok:     true,
		want:   []string{"pass p 2.0s", "slowest packages:", "     2.0s p", "3 passed, 0 failed, 0 skipped"},
	},
	{
		name:   "a failure is printed with its output, a success is not",
		events: out("p", "TestA", "got 1") + fail("p", "TestA") + out("p", "TestB", "chatter") + pass("p", "TestB") + end("p", "fail", 0),
		want:   []string{"FAIL p TestA", "    got 1", "1 passed, 1 failed, 0 skipped"},
		not:    []string{"chatter", "slowest"},
	},
	{
		name:   "a failing subtest is one failure",
		events: fail("p", "TestA/x") + fail("p", "TestA") + end("p", "fail", 0),
		want:   []string{"FAIL p TestA/x", "0 passed, 1 failed, 0 skipped"},
	},
	{
		name:   "a parent that fails by itself is one too",
		events: pass("p", "TestA/x") + out("p", "TestA", "leaked") + fail("p", "TestA") + end("p", "fail", 0),
		want:   []string{"FAIL p TestA", "    leaked", "1 passed, 1 failed, 0 skipped"},
	},
	{
		name:   "a package that fails after its tests passed",
		events: pass("p", "TestA") + out("p", "", "found unexpected goroutines") + end("p", "fail", 0),
		want:   []string{"FAIL p", "    found unexpected goroutines", "1 passed, 1 failed, 0 skipped"},
	},
	{
		name: "a package that does not build",
		events: `{"Action":"build-output","ImportPath":"p [p.test]","Output":"p.go:1: undefined: x\n"}` + "\n" +
			`{"Action":"fail","Package":"p","FailedBuild":"p [p.test]"}` + "\n",
		want: []string{"FAIL p did not build", "    p.go:1: undefined: x", "0 passed, 1 failed, 0 skipped"},
	},
	{
		name:   "a test that never ended",
		events: out("p", "TestA", "panic: test timed out") + end("p", "fail", 600),
		want:   []string{"FAIL p TestA did not end", "    panic: test timed out", "0 passed, 1 failed, 0 skipped"},
	},
	{
		name:   "a package that never ended",
		events: pass("p", "TestA"),
		want:   []string{"FAIL p", "1 passed, 1 failed, 0 skipped"},
	},
	{
		name:   "a skip is named with its reason",
		events: pass("p", "TestB") + out("p", "TestA", "    a_test.go:3: needs wrk") + skip("p", "TestA") + end("p", "pass", 0),
		ok:     true,
		want:   []string{"skipped:", "  p TestA: a_test.go:3: needs wrk", "1 passed, 0 failed, 1 skipped"},
	},
	{
		name:    "in CI a skip is a failure",
		events:  pass("p", "TestB") + out("p", "TestA", "    a_test.go:3: needs wrk") + skip("p", "TestA") + end("p", "pass", 0),
		verdict: Verdict{Strict: true},
		want:    []string{"FAIL skipped, and in CI a skip is a failure: p TestA: a_test.go:3: needs wrk", "1 passed, 1 failed, 0 skipped"},
	},
	{
		name:    "unless it is allowed",
		events:  pass("p", "TestB") + skip("p", "TestA") + end("p", "pass", 0),
		verdict: Verdict{Strict: true, Allowed: []allowed{{"p TestA", "no such kernel"}}},
		ok:      true,
		want:    []string{"  p TestA: no reason given", "      allowed: no such kernel", "1 passed, 0 failed, 1 skipped"},
	},
	{
		name:    "steps outside go test join in",
		events:  pass("p", "TestB") + end("p", "pass", 0),
		verdict: Verdict{Failed: []string{"gofmt"}, Skipped: []string{"staticcheck: offline"}},
		want:    []string{"FAIL step gofmt; its output is above", "  step staticcheck: offline", "1 passed, 1 failed, 1 skipped"},
	},
	{
		name:   "no test is no success",
		events: end("p", "skip", 0),
		want:   []string{"FAIL no test ran", "0 passed, 1 failed, 0 skipped"},
	},
	{
		name:   "what is no event is passed on",
		events: "go: downloading x v1\n{\"a\":1}\n" + pass("p", "TestA") + end("p", "pass", 0) + `{"Action":`,
		ok:     true,
		want:   []string{"go: downloading x v1", `{"a":1}`, `{"Action":`, "1 passed, 0 failed, 0 skipped"},
	},
}

func TestStories(t *testing.T) {
	for _, s := range stories {
		t.Run(s.name, func(t *testing.T) {
			var b strings.Builder
			run := NewRun(&b)
			if err := run.Read(strings.NewReader(s.events)); err != nil {
				t.Fatal(err)
			}
			if ok := run.Close(s.verdict); ok != s.ok {
				t.Errorf("success = %v, want %v", ok, s.ok)
			}
			rest := b.String()
			for _, line := range s.want {
				_, after, found := strings.Cut(rest, line+"\n")
				if !found {
					t.Fatalf("want line %q, in order, in:\n%s", line, b.String())
				}
				rest = after
			}
			if rest != "" {
				t.Errorf("the closing line is not last: %q follows", rest)
			}
			for _, text := range s.not {
				if strings.Contains(b.String(), text) {
					t.Errorf("must not print %q:\n%s", text, b.String())
				}
			}
		})
	}
}

func TestReadAllowed(t *testing.T) {
	for _, c := range []struct{ name, text, err string }{
		{"empty and comments", "# why\n\n", ""},
		{"a line", "p Test*: cannot be had\n", ""},
		{"no reason", "p TestA\n", "allowed.txt:1: want `pattern: why`"},
		{"an empty reason", "# x\np TestA:  \n", "allowed.txt:2: want `pattern: why`"},
		{"a broken pattern", "p [: why\n", "allowed.txt:1: pattern"},
	} {
		name := filepath.Join(t.TempDir(), "allowed.txt")
		if err := os.WriteFile(name, []byte(c.text), 0o644); err != nil {
			t.Fatal(err)
		}
		_, err := readAllowed(name)
		if c.err == "" && err != nil || c.err != "" && (err == nil || !strings.Contains(err.Error(), c.err)) {
			t.Errorf("%s: got error %v, want %q", c.name, err, c.err)
		}
	}
}

// TestAllowedFile holds the list that is in use to its own grammar.
func TestAllowedFile(t *testing.T) {
	if _, err := readAllowed("../skips-allowed.txt"); err != nil {
		t.Error(err)
	}
}

// FuzzRead shows that no input, however broken, stops the reader.
func FuzzRead(f *testing.F) {
	for _, s := range stories {
		f.Add(s.events)
	}
	f.Fuzz(func(t *testing.T, events string) {
		var b strings.Builder
		run := NewRun(&b)
		if err := run.Read(strings.NewReader(events)); err != nil {
			t.Fatal(err)
		}
		run.Close(Verdict{})
		if !strings.HasSuffix(b.String(), " skipped\n") {
			t.Errorf("no closing line: %q", b.String())
		}
	})
}
