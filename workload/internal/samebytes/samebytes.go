package samebytes

import (
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
)

var fused = regexp.MustCompile(`\tV?FN?M(ADD|SUB)\w*\t|\tWFM[AS][SD]B\t|\tFM(ADD|SUB)S?\t`)

// NothingIsFused fails t where the compiler emits a fused multiply-add for the
// package in the current directory or the given ones: there a product is not
// wrapped in float64().
func NothingIsFused(t *testing.T, packages ...string) {
	t.Helper()
	if testing.Short() {
		t.Skip("skipped in -short: it builds for five processors")
	}
	for _, arch := range []string{"arm64", "riscv64", "ppc64le", "s390x", "loong64"} {
		args := append([]string{"build", "-gcflags=-S", "."}, packages...)
		listing := Go(t, []string{"GOOS=linux", "GOARCH=" + arch}, args...)
		if !strings.Contains(listing, "\tTEXT\t") {
			t.Fatalf("%s: the compiler printed no listing", arch)
		}
		for line := range strings.Lines(listing) {
			if fused.MatchString(line) {
				t.Errorf("%s: %s", arch, strings.TrimSpace(line))
			}
		}
	}
}

// Go runs the go command in the current directory with these variables set, and
// returns what it printed.
func Go(t *testing.T, env []string, args ...string) string {
	t.Helper()
	cmd := exec.Command("go", args...)
	cmd.Env = append(os.Environ(), env...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("go %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return string(out)
}
