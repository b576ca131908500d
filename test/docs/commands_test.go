package docs_test

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/spillway-dev/spillway/test/need"
)

var update = flag.Bool("update", false, "write what commands print into the pages anew")

// command is a line of a page that runs spillway.
type command struct {
	text  string // with spillway as the first word
	exits int
}

var (
	exits   = regexp.MustCompile(`\s+# exits ([0-9]+)$`)
	started = regexp.MustCompile(`^(?:go run \./cmd/spillway|spillway)(?:\s|$)`)
)

// commands returns the commands of a sh block. A line that ends in a backslash
// goes on in the next.
func (b block) commands() []command {
	var all []command
	for _, line := range strings.Split(strings.ReplaceAll(strings.Join(b.lines, "\n"), "\\\n", " "), "\n") {
		if !started.MatchString(line) {
			continue
		}
		c := command{text: "spillway" + strings.TrimPrefix(strings.TrimPrefix(line, "go run ./cmd/spillway"), "spillway")}
		if m := exits.FindStringSubmatch(c.text); m != nil {
			c.exits, _ = strconv.Atoi(m[1]) // digits only
			c.text = strings.TrimSuffix(c.text, m[0])
		}
		all = append(all, c)
	}
	return all
}

// runs reports whether the command ends by itself and needs nothing but files.
func (c command) runs() bool {
	words := strings.Fields(c.text)
	return len(words) < 2 || !slices.Contains([]string{"serve", "demo", "load"}, words[1])
}

func TestCommandsOf(t *testing.T) {
	got := block{lines: []string{
		"go run ./cmd/spillway sim \\", "  --rate 1   # exits 2", "curl localhost", "spillway serve &", "spillwayed",
	}}.commands()
	if len(got) != 2 || got[0].exits != 2 || got[0].text != "spillway sim    --rate 1" || !got[0].runs() || got[1].runs() {
		t.Errorf("commands = %+v", got)
	}
}

// TestCommands runs what the pages show.
func TestCommands(t *testing.T) {
	bin := build(t)
	shown := 0
	for _, page := range pages(t) {
		text := read(t, page)
		t.Run(page, func(t *testing.T) {
			folder := workplace(t)
			var printed string
			for _, b := range blocks(text) {
				switch b.language {
				case "sh":
					printed = ""
					for _, c := range b.commands() {
						shown++
						printed += c.try(t, bin, folder, fmt.Sprintf("%s:%d", page, b.line))
					}
				case "output":
					compare(t, page, b, printed)
				}
			}
		})
	}
	if shown < 10 {
		t.Errorf("%d commands were found in all pages: are they still fenced as sh?", shown)
	}
}

// build returns a folder with the program.
func build(t *testing.T) string {
	t.Helper()
	bin := t.TempDir()
	out, err := exec.Command("go", "build", "-buildvcs=false", "-o", filepath.Join(bin, "spillway"), filepath.Join(root, "cmd/spillway")).CombinedOutput()
	if err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	return bin
}

// workplace returns a folder in which a page's commands find what the pages tell
// of, and may write.
func workplace(t *testing.T) string {
	t.Helper()
	folder, whole := t.TempDir(), filepath.Join(root, "examples")
	if err := os.CopyFS(filepath.Join(folder, "examples"), os.DirFS(whole)); err != nil {
		t.Fatal(err)
	}
	example, err := os.ReadFile(filepath.Join(whole, "spillway.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, "spillway.yaml"), example, 0o644); err != nil {
		t.Fatal(err)
	}
	return folder
}

// try runs the command, or has its flags read, and returns what it printed.
func (c command) try(t *testing.T, bin, folder, where string) string {
	t.Helper()
	text := c.text
	if !c.runs() {
		text = strings.TrimRight(strings.FieldsFunc(text, func(r rune) bool { return r == '|' || r == '&' || r == '>' })[0], " ")
		text, _, _ = strings.Cut(text, " #")
		text += " --help >/dev/null"
	}
	if strings.Contains(text, need.DataEnv) {
		need.Data(t, "README.md")
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "bash", "-o", "pipefail", "-c", text)
	cmd.Dir = folder
	cmd.Env = append(os.Environ(), "PATH="+bin+string(os.PathListSeparator)+os.Getenv("PATH"), "NO_COLOR=1")
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	code := 0
	var exit *exec.ExitError
	if err := cmd.Run(); errors.As(err, &exit) {
		code = exit.ExitCode()
	} else if err != nil {
		t.Fatal(err)
	}
	if code != c.exits {
		t.Errorf("%s: %s\nexits %d, want %d\n%s", where, text, code, c.exits, stderr.String())
	}
	return stdout.String()
}

// compare holds an output block against what was printed, or writes it anew.
func compare(t *testing.T, page string, b block, printed string) {
	t.Helper()
	want := strings.Join(b.lines, "\n")
	if got := strings.TrimRight(printed, "\n"); got != want {
		if !*update {
			t.Errorf("%s:%d: the commands above print\n%s\nand the page says\n%s\n(go test ./test/docs -update writes it anew)", page, b.line, got, want)
			return
		}
		file := filepath.Join(root, page)
		text := strings.Replace(read(t, page), "```output\n"+want+"\n```", "```output\n"+got+"\n```", 1)
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}
