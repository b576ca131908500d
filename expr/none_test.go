package expr_test

import (
	"os/exec"
	"strings"
	"testing"
)

// A build with the tag nocel, such as that of the pages that work offline, holds
// nothing of the language, although it reads configurations.
func TestABuildCanLeaveTheLanguageOut(t *testing.T) {
	for _, c := range []struct {
		tags string
		want bool
	}{{"nocel", false}, {"", true}} {
		list := exec.Command("go", "list", "-deps", "-tags", c.tags, "../config/...", "../trial/...")
		list.Env = append(list.Environ(), "GOOS=js", "GOARCH=wasm")
		out, err := list.CombinedOutput()
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		if has := strings.Contains(string(out), "cel.dev/"); has != c.want {
			t.Errorf("with the tags %q the language is there: %v, want %v", c.tags, has, c.want)
		}
	}
	vet := exec.Command("go", "vet", "-tags", "nocel", "../config/...", ".")
	if out, err := vet.CombinedOutput(); err != nil {
		t.Errorf("it does not build: %v\n%s", err, out)
	}
}
