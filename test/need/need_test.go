package need_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/spillway-dev/spillway/test/need"
)

// asked records the skip that a need would cause.
type asked struct{ skip string }

func (*asked) Helper() {}

func (a *asked) Skipf(format string, args ...any) { a.skip = fmt.Sprintf(format, args...) }

func TestCommand(t *testing.T) {
	bin := t.TempDir()
	there := filepath.Join(bin, "spillway-peer")
	if err := os.WriteFile(there, []byte("#!/bin/sh\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", bin)

	for _, c := range []struct {
		names      []string
		path, skip string
	}{
		{names: []string{"spillway-peer"}, path: there},
		{names: []string{"spillway-absent", "spillway-peer"}, path: there},
		{names: []string{"spillway-absent"}, skip: "needs spillway-absent: `make deps`, or install spillway-absent"},
		{names: []string{"spillway-absent", "spillway-gone"}, skip: "needs spillway-absent or spillway-gone: `make deps`, or install spillway-absent"},
		{skip: "needs a program, but the test does not say which"},
	} {
		var a asked
		if got := need.Command(&a, c.names...); got != c.path || a.skip != c.skip {
			t.Errorf("Command(%q) = %q, skip %q; want %q, skip %q", c.names, got, a.skip, c.path, c.skip)
		}
	}
}

func TestData(t *testing.T) {
	folder := t.TempDir()
	there := filepath.Join(folder, "traces", "a.csv")
	if err := os.MkdirAll(filepath.Dir(there), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(there, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ name, folder, file, path, skip string }{
		{"there", folder, "traces/a.csv", there, ""},
		{"no such file", folder, "traces/b.csv", "", "needs traces/b.csv: it is not in SPILLWAY_DATA=" + folder},
		{"no folder named", "", "traces/a.csv", "", "needs traces/a.csv: set SPILLWAY_DATA to the folder of recorded traces"},
	} {
		t.Setenv(need.DataEnv, c.folder)
		var a asked
		if got := need.Data(&a, c.file); got != c.path || a.skip != c.skip {
			t.Errorf("%s: Data = %q, skip %q; want %q, skip %q", c.name, got, a.skip, c.path, c.skip)
		}
	}
}
