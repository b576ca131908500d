package verify

import (
	"go/parser"
	"go/token"
	"os"
	"strings"
	"testing"
)

// What verifies the labs shares nothing with them.
func TestItImportsNothingOfThisModule(t *testing.T) {
	files, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if !strings.HasSuffix(f.Name(), ".go") || strings.HasSuffix(f.Name(), "_test.go") {
			continue
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), f.Name(), nil, parser.ImportsOnly)
		if err != nil {
			t.Fatal(err)
		}
		for _, spec := range parsed.Imports {
			if strings.Contains(strings.Trim(spec.Path.Value, `"`), ".") {
				t.Errorf("%s imports %s: only the standard library is shared", f.Name(), spec.Path.Value)
			}
		}
	}
}

const head = "# spillway-lab-raw 1 lab=pool arm=x plan=sha256:0\n" + columns + "\n"

func TestRowsThatAreWrong(t *testing.T) {
	for name, text := range map[string]string{
		"too few cells": head + "r,0,0\n",
		"not a number":  head + "r,0,x,0,c,t,0,1,0,0,0,0,0,0,served,0,1\n",
		"no such kind":  head + "x,0,0,0,c,t,0,1,0,0,0,0,0,0,served,0,1\n",
		"two kinds":     head + "rw,0,0,0,c,t,0,1,0,0,0,0,0,0,served,0,1\n",
		"other columns": "# x\nkind,number\n",
	} {
		if _, err := parseArm("x", strings.NewReader(text)); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	good, err := parseArm("x", strings.NewReader(head+"r,0,7,0,c,t,0,1,0,0,5,6,9,20,served,0,1\n"))
	if err != nil || len(good.rows) != 1 || good.rows[0].number != 7 || good.rows[0].wait() != 1 {
		t.Errorf("%+v, %v", good, err)
	}
}

// Whatever the text, there is an error or there are rows; figures are computed
// of any rows.
func FuzzRecords(f *testing.F) {
	f.Add(head + "r,0,7,0,c,t,0,1,0,0,5,6,9,20,served,0,1\nw,0,7,0,p,,0,0,0,-1,-1,6,9,-1,none,0,0\n")
	f.Add(head + "r,0,7,0,c,,0,1,0,0,5,-1,5,20,queue_full,0,0\nb,0,7,0,c,,0,0,0,-1,-1,6,9,-1,none,0,0\n")
	f.Add(head + "k,0,7,1,,A,0,0,0,-1,-1,-1,-1,-1,none,0,0\n")
	f.Add(head + "q,0,7,1,served,,0,1,0,1200000000,1200000000,1202000000,1203900000,-1,served,0,1\nl,0,7,1,used,,0,2000000,0,-1,1200000000,1200000000,1202000000,-1,none,0,1\n")
	f.Add("# nothing")
	f.Fuzz(func(t *testing.T, text string) {
		file, err := parseArm("x", strings.NewReader(text))
		if err != nil {
			return
		}
		for _, settings := range []string{
			`{"seconds":1,"budget_ms":300,"slots":2,"classes":[{"name":"c","slots":2,"service_ms":100}]}`,
			`{"seconds":1,"stages":[{"name":"c","slots":2,"bound":1}]}`,
		} {
			if _, err := poolFigures([]byte(settings), 1, file.rows); err != nil {
				t.Fatal(err)
			}
		}
		_, _ = retriesFigures([]byte(`{"load_per_s":1,"rounds":2,"for_s":60,"outage_s":1,"out_for_s":1,"timeout_s":1}`), file.rows) // no panic
		c := &checker{plan: &planFile{}, results: &resultsFile{}, out: &Outcome{}}
		if _, err := c.fallbackFigures("", "x", []byte(`{"rate":300,"seconds":10,"rest_ms":1.9,"otherwise":"error","busy_factor":1}`), file.rows); err != nil {
			t.Fatal(err)
		}
		if _, err := fairFigures([]byte(`{"weights":{"A":2},"slots":3,"horizon_s":10,"deadline_s":4}`), file.rows); err != nil {
			t.Fatal(err)
		}
	})
}

func TestQuantilesAreAllowedAThousandth(t *testing.T) {
	for _, c := range []struct {
		path           string
		written, found float64
		want           bool
	}{
		{"p99_ms", 100.1, 100, true},
		{"p99_ms", 100.2, 100, false},
		{"p99_ms", 99.9, 100, false},
		{"classes.a.queue_wait_p50_ms", 100.05, 100, true},
		{"max_ms", 100.05, 100, false},
		{"goodput_per_s", 100.0000001, 100, true},
		{"goodput_per_s", 100.001, 100, false},
	} {
		if got := agrees(c.path, c.written, c.found); got != c.want {
			t.Errorf("%s written %v, found %v: agrees %v", c.path, c.written, c.found, got)
		}
	}
}
