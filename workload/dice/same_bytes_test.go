package dice_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/spillway-dev/spillway/workload/dice"
	"github.com/spillway-dev/spillway/workload/internal/samebytes"
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
	goroot, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		t.Fatal(err)
	}
	wasm := filepath.Join(strings.TrimSpace(string(goroot)), "lib", "wasm", "go_js_wasm_exec")
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
			if got := strings.TrimSpace(samebytes.Go(t, target.env, args...)); got != golden {
				t.Errorf("the fingerprint is %s, want %s", got, golden)
			}
		})
	}
}

func TestNothingIsFused(t *testing.T) { samebytes.NothingIsFused(t, "./portable") }

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
