package sim_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/spillway-dev/spillway/sim/internal/golden"
	"github.com/spillway-dev/spillway/test/need"
)

func TestASeedGivesTheSameBytes(t *testing.T) {
	first := must(golden.Report(1, 30*time.Second))
	if again := must(golden.Report(1, 30*time.Second)); !bytes.Equal(first, again) {
		t.Error("the same seed gave another report")
	}
	if other := must(golden.Report(2, 30*time.Second)); bytes.Equal(first, other) {
		t.Error("another seed gave the same report")
	}
}

// The same run on other processors' instructions: with fused multiply-add
// allowed, and as WebAssembly under node.
func TestASeedGivesTheSameBytesElsewhere(t *testing.T) {
	if testing.Short() {
		t.Skip("skipped in -short: it builds a program for each processor")
	}
	want := must(golden.Fingerprint(1))
	t.Run("amd64 v3", func(t *testing.T) {
		flags, _ := os.ReadFile("/proc/cpuinfo")
		if runtime.GOARCH != "amd64" || !bytes.Contains(flags, []byte(" fma ")) {
			t.Skip("skipped: this processor is not known to have fused multiply-add")
		}
		if got := fingerprint(t, "GOAMD64=v3"); got != want {
			t.Errorf("the fingerprint is %s, want %s", got, want)
		}
	})
	t.Run("wasm", func(t *testing.T) {
		need.Command(t, "node")
		goroot := strings.TrimSpace(goCommand(t, nil, "env", "GOROOT"))
		wasm := filepath.Join(goroot, "lib", "wasm", "go_js_wasm_exec")
		if got := fingerprint(t, "GOOS=js", "GOARCH=wasm", "-exec", wasm); got != want {
			t.Errorf("the fingerprint is %s, want %s", got, want)
		}
	})
}

// fingerprint runs the golden program with these settings of the environment,
// and what follows -exec.
func fingerprint(t *testing.T, settings ...string) string {
	t.Helper()
	args := []string{"run"}
	for i, s := range settings {
		if strings.HasPrefix(s, "-") {
			args = append(args, settings[i:]...)
			settings = settings[:i]
			break
		}
	}
	return strings.TrimSpace(goCommand(t, settings, append(args, "./testdata/golden")...))
}

func goCommand(t *testing.T, env []string, args ...string) string {
	t.Helper()
	cmd := exec.Command("go", args...)
	cmd.Env = append(os.Environ(), env...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go %s: %v\n%s", strings.Join(args, " "), err, &stderr)
	}
	return string(out)
}
