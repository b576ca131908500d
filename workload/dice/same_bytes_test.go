package dice_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/spillway-dev/spillway/workload/dice"
)

// golden is dice.Fingerprint(1, 1_000_000). If a change of the code changes it,
// every seed of every published run means other numbers from then on: say so in
// the change log.
const golden = "c1676be3260d1ecc"

func TestTheSameBytesHere(t *testing.T) {
	if got := fmt.Sprintf("%016x", dice.Fingerprint(1, 1_000_000)); got != golden {
		t.Errorf("the fingerprint is %s, want %s", got, golden)
	}
}

// The same program is built for other processors' instructions and run: with
// fused multiply-add allowed (GOAMD64=v3), and as WebAssembly under node.
func TestTheSameBytesElsewhere(t *testing.T) {
	if testing.Short() {
		t.Skip("skipped in -short: it builds the package three times")
	}
	wasm := filepath.Join(runtime.GOROOT(), "lib", "wasm", "go_js_wasm_exec")
	for _, target := range []struct {
		name string
		env  []string
		args []string
		need func() string // what is missing, empty if nothing is
	}{
		{"amd64 v1", []string{"GOARCH=amd64", "GOAMD64=v1"}, nil, needAMD64},
		{"amd64 v3", []string{"GOARCH=amd64", "GOAMD64=v3"}, nil, needFMA},
		{"wasm", []string{"GOOS=js", "GOARCH=wasm"}, []string{"-exec", wasm}, func() string {
			if _, err := exec.LookPath("node"); err != nil {
				return "node"
			}
			if _, err := os.Stat(wasm); err != nil {
				return wasm
			}
			return ""
		}},
	} {
		t.Run(target.name, func(t *testing.T) {
			if missing := target.need(); missing != "" {
				t.Skipf("skipped: there is no %s here", missing)
			}
			args := append(append([]string{"run"}, target.args...), "./testdata/golden")
			if got := strings.TrimSpace(run(t, target.env, args...)); got != golden {
				t.Errorf("the fingerprint is %s, want %s", got, golden)
			}
		})
	}
}

// Processors that are not here are looked at through the compiler: where it
// emits a fused multiply-add, a product was not wrapped in float64().
func TestNothingIsFused(t *testing.T) {
	if testing.Short() {
		t.Skip("skipped in -short: it builds the package for five processors")
	}
	fused := regexp.MustCompile(`\b(FN?M(ADD|SUB)[SD]?|FN?M(ADD|SUB)|WFM[AS][SD]B|FM(ADD|SUB)|VFN?M(ADD|SUB)\w+)\b`)
	for _, arch := range []string{"arm64", "riscv64", "ppc64le", "s390x", "loong64"} {
		listing := run(t, []string{"GOOS=linux", "GOARCH=" + arch}, "build", "-gcflags=-S", ".", "./portable")
		if !strings.Contains(listing, "dice.(*Dice).Exp") {
			t.Fatalf("%s: the compiler printed no listing", arch)
		}
		for line := range strings.Lines(listing) {
			if fused.MatchString(line) {
				t.Errorf("%s: %s", arch, strings.TrimSpace(line))
			}
		}
	}
}

func needAMD64() string {
	if runtime.GOARCH != "amd64" {
		return "amd64 processor"
	}
	return ""
}

func needFMA() string {
	flags, _ := os.ReadFile("/proc/cpuinfo")
	if needAMD64() != "" || !bytes.Contains(flags, []byte(" fma ")) {
		return "processor with fused multiply-add that is known to have it"
	}
	return ""
}

func run(t *testing.T, env []string, args ...string) string {
	t.Helper()
	cmd := exec.Command("go", args...)
	cmd.Env = append(os.Environ(), env...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("go %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return string(out)
}
