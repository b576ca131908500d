// Package script_test holds the live gate and the simulator side by side: one
// script goes through both, and everything that either machine was told and
// decided must be the same, line by line.
//
// A script is a text file in testdata. Lines of prose start with #. Then come
// classes, requests and changes, one a line, then ---- and what happens.
//
//	class checkout slots=1 bound=2 deadline=50ms     the resource's classes, in order
//	request at=0ms takes=10ms                        of the first class, if none is named
//	request at=1ms takes=5ms class=checkout tenant=acme deadline=20ms leaves=5ms importance=1 cost=3 bytes=100 session=7
//	class x quota=requests:2/1s,concurrent:2,tenant.requests:1/2s   2 at once, and one more each second
//	reconfigure at=30ms checkout slots=3             changes these keys of one class
//	operate at=35ms checkout refuse for=2ms          an operator switches one class
//	press at=37ms 1.5                                pressure is told of
//	drain at=40ms
//	upstream notices                                 stops work whose caller has left or timed out
//
// A request is offered at an instant, works for as long as it takes from when
// it is granted a slot, and its caller hangs up after as long as it leaves.
// Nothing in a script may happen at the same instant as something else, because
// live nobody says which comes first; sim's package comment says what it plays
// first.
//
// Advances without effect are left out: how often a driver looks at the clock
// is its own affair. With -rewrite, what sim does becomes what is expected.
package script_test

import (
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

var rewrite = flag.Bool("rewrite", false, "write what happens into the scripts")

const divider = "----\n"

func TestScriptsRunTheSameLiveAndVirtual(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no scripts in testdata: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			told, want, found := strings.Cut(string(text), divider)
			if !found && !*rewrite {
				t.Fatalf("there is no line %q", strings.TrimSpace(divider))
			}
			s, err := parse(told)
			if err != nil {
				t.Fatal(err)
			}
			virtual := runVirtual(t, s)
			compare(t, "live", runLive(t, s), "virtual", virtual)
			if *rewrite {
				if err := os.WriteFile(file, []byte(told+divider+strings.Join(virtual, "\n")+"\n"), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			compare(t, "virtual", virtual, "expected", strings.Split(strings.TrimSpace(want), "\n"))
		})
	}
}

// compare fails the test at the first line that differs.
func compare(t interface{ Errorf(string, ...any) }, oneName string, one []string, otherName string, other []string) {
	if slices.Equal(one, other) {
		return
	}
	line := func(lines []string, i int) string {
		if i < len(lines) {
			return lines[i]
		}
		return "nothing more"
	}
	for i := range max(len(one), len(other)) {
		if a, b := line(one, i), line(other, i); a != b {
			t.Errorf("event %d\n%9s: %s\n%9s: %s", i+1, oneName, a, otherName, b)
			return
		}
	}
}
