package docs_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spillway-dev/spillway/config"
)

// TestExamplesAreRight: every example file is right, warns of nothing, and is
// told of somewhere.
func TestExamplesAreRight(t *testing.T) {
	var told strings.Builder
	for _, page := range pages(t) {
		told.WriteString(read(t, page))
	}
	found := 0
	err := filepath.WalkDir(filepath.Join(root, "examples"), func(path string, _ os.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".yaml") {
			return err
		}
		found++
		cfg, err := config.Load(path)
		if err != nil {
			t.Errorf("%s: %v", path, err)
			return nil
		}
		recorded := strings.Contains(path, "replay")                                       // they are what a recording was made under, and stay so
		recorded = recorded || strings.HasSuffix(path, filepath.Join("plan", "tips.yaml")) // shown for what is wrong with it
		recorded = recorded || strings.HasSuffix(path, filepath.Join("calls", "unbounded.yaml"))
		for _, w := range cfg.Warnings() {
			if recorded {
				continue
			}
			t.Errorf("an example is to be imitated, warnings and all: %v", w)
		}
		if name, _ := filepath.Rel(root, path); !strings.Contains(told.String(), filepath.ToSlash(name)) {
			t.Errorf("no page tells of %s", name)
		}
		return nil
	})
	if err != nil || found < 5 {
		t.Errorf("%d example files, %v", found, err)
	}
}
