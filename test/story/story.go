package story

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Files runs a test for each file that matches the pattern. tell plays a file's story and
// returns the file as it should be; where that is not what it is, the test fails with the
// first line that differs, or with update rewrites the file.
func Files(t *testing.T, pattern string, update bool, tell func(t *testing.T, text string) string) {
	t.Helper()
	files, err := filepath.Glob(pattern)
	if err != nil || len(files) == 0 {
		t.Fatal("no files ", pattern, err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), filepath.Ext(file)), func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			got := tell(t, string(text))
			switch {
			case update:
				if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			case got != string(text):
				t.Errorf("%s: what happened is not what is expected (-update rewrites it):\n%s", file, Difference(string(text), got))
			}
		})
	}
}

// Difference is the first line in which two texts differ.
func Difference(want, got string) string {
	w, g := strings.Split(want, "\n"), strings.Split(got, "\n")
	for i := range min(len(w), len(g)) {
		if w[i] != g[i] {
			return fmt.Sprintf("line %d\nwant %s\ngot  %s", i+1, w[i], g[i])
		}
	}
	return "one is longer"
}
