package config

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite expectations and generated pages; review the diff")

// Each file of testdata is a configuration, a line ----, and what Parse says of it:
// its problems, one a line, or "ok" and then its warnings. The environment holds
// APP_URL (a URL), SECRET ("hunter2 is no URL") and EMPTY; the file secret.txt holds a
// URL with a line end.
func TestFilesSayWhatIsWrongAndWhatWouldBeRight(t *testing.T) {
	files, err := filepath.Glob("testdata/*.yaml")
	if err != nil || len(files) < 10 {
		t.Fatalf("testdata: %d files, %v", len(files), err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			raw, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			in, want, ok := strings.Cut(string(raw), "\n----\n")
			if !ok {
				t.Fatal("no line ----")
			}
			got := verdict(filepath.Base(file), in+"\n")
			if strings.Contains(got, "hunter2") {
				t.Errorf("a secret is shown:\n%s", got)
			}
			if *update {
				if err := os.WriteFile(file, []byte(in+"\n----\n"+got), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			if got != want {
				t.Errorf("got:\n%s\nwant:\n%s", got, want)
			}
		})
	}
}

func verdict(name, in string) string {
	c, err := parseIn(name, []byte(in), testWorld)
	if err != nil {
		return err.Error() + "\n"
	}
	out := "ok\n"
	for _, w := range c.Warnings() {
		out += w.String() + "\n"
	}
	return out
}

var testWorld = world{
	env: func(name string) (string, bool) {
		v, ok := map[string]string{"APP_URL": "http://127.0.0.1:9001", "SECRET": "hunter2 is no URL", "EMPTY": ""}[name]
		return v, ok
	},
	file: func(path string) (string, error) {
		if path == "secret.txt" {
			return "http://user:hunter2@127.0.0.1:9001\n", nil
		}
		return "", os.ErrNotExist
	},
}
