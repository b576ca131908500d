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
	told  []string // lines that a session says it prints
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
	return len(words) < 2 || !slices.Contains([]string{"serve", "demo", "load", "reload", "operate", "override", "explain", "jobs", "ledger"}, words[1])
}

func TestCommandsOf(t *testing.T) {
	got := block{lines: []string{
		"go run ./cmd/spillway sim \\", "  --rate 1   # exits 2", "curl localhost", "spillway serve &", "spillwayed",
	}}.commands()
	if len(got) != 2 || got[0].exits != 2 || got[0].text != "spillway sim    --rate 1" || !got[0].runs() || got[1].runs() {
		t.Errorf("commands = %+v", got)
	}
}

var recorded = regexp.MustCompile(`\$` + need.DataEnv + `/([^" ]+)`)

// missing returns the recorded trace that the command needs and there is not.
func (c command) missing() string {
	if m := recorded.FindStringSubmatch(c.text); m != nil {
		if _, err := os.Stat(filepath.Join(os.Getenv(need.DataEnv), m[1])); err != nil {
			return m[1]
		}
	}
	return ""
}

// TestPagesShowCommands keeps TestCommands from passing by finding nothing.
func TestPagesShowCommands(t *testing.T) {
	for page, least := range map[string]int{"README.md": 5, "docs/boundary.md": 10, "docs/simulation.md": 10} {
		shown, outputs := 0, 0
		for _, b := range blocks(read(t, page)) {
			switch b.language {
			case "sh":
				shown += len(b.commands())
			case "output":
				outputs++
			}
		}
		if shown < least || outputs == 0 {
			t.Errorf("%s: %d commands and %d outputs were found, at least %d and 1 are there: are they fenced as sh and output?", page, shown, outputs, least)
		}
	}
}

// TestByHand keeps the exceptions from outliving what they excuse.
func TestByHand(t *testing.T) {
	shown := map[string]bool{}
	for _, page := range pages(t) {
		for _, b := range blocks(read(t, page)) {
			for _, c := range b.session() {
				shown[c.text] = true
			}
		}
	}
	for text := range byHand {
		if !shown[text] {
			t.Errorf("no page shows %q any more: take it out of byHand", text)
		}
	}
}

// TestCommands runs what the pages show.
func TestCommands(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the program and runs some fifty commands")
	}
	bin := build(t)
	for _, page := range pages(t) {
		text := read(t, page)
		t.Run(page, func(t *testing.T) {
			folder := workplace(t)
			var printed string
			var untried bool
			var stale []block
			var fresh, lacking []string
			for _, b := range blocks(text) {
				switch b.language {
				case "":
					for _, c := range b.session() {
						c.retell(t, bin, folder, fmt.Sprintf("%s:%d", page, b.line))
					}
				case "sh":
					printed, untried = "", false
					for _, c := range b.commands() {
						if trace := c.missing(); trace != "" {
							lacking, untried = append(lacking, trace), true
							break
						}
						printed += c.try(t, bin, folder, fmt.Sprintf("%s:%d", page, b.line))
					}
				case "output":
					if untried {
						continue
					}
					got, said := strings.TrimRight(printed, "\n"), strings.Join(b.lines, "\n")
					switch {
					case got == said:
					case *update:
						stale, fresh = append(stale, b), append(fresh, got)
					default:
						t.Errorf("%s:%d: the commands above print\n%s\nand the page says\n%s\n(go test ./test/docs -update writes it anew)", page, b.line, got, said)
					}
				}
			}
			if len(stale) > 0 {
				rewrite(t, page, stale, fresh)
			}
			for _, trace := range lacking {
				need.Data(t, trace) // skips, and says what for; all else of the page was tried
			}
		})
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

// session returns the commands of a block without a language, in which a line
// that begins with $ is a command and what follows is what it printed; or all
// that begin with spillway, where no line has a $.
func (b block) session() []command {
	if !slices.ContainsFunc(b.lines, func(line string) bool { return strings.HasPrefix(line, "$ ") }) {
		return b.commands()
	}
	var all []command
	telling := false
	for _, line := range b.lines {
		if text, ok := strings.CutPrefix(line, "$ "); ok {
			one := block{lines: []string{text}}.commands()
			all, telling = append(all, one...), len(one) > 0
		} else if telling {
			c := &all[len(all)-1]
			c.told = append(c.told, line)
		}
	}
	return all
}

// byHand are commands whose output a page tells after something was done that is
// no command, with what that is. They are run, their output is not compared.
var byHand = map[string]string{
	`spillway lab verify records; echo "exit $?"`: "one wait of a record was made longer",
}

// retell tries a command of a session. What the page tells of its output must
// have been printed in that order; a page may leave lines out.
func (c command) retell(t *testing.T, bin, folder, where string) {
	t.Helper()
	printed := strings.Split(c.try(t, bin, folder, where), "\n")
	if !c.runs() || byHand[c.text] != "" {
		return
	}
	for _, line := range c.told {
		if line = strings.TrimSpace(line); line == "" || strings.Trim(line, ".") == "" {
			continue
		}
		i := slices.IndexFunc(printed, func(p string) bool { return strings.TrimSpace(p) == line })
		if i < 0 {
			t.Errorf("%s: %s\ndoes not print, or not there: %s", where, c.text, line)
			return
		}
		printed = printed[i+1:]
	}
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

// rewrite puts what was printed in the place of output blocks, given in the
// order of the page.
func rewrite(t *testing.T, page string, stale []block, printed []string) {
	t.Helper()
	lines := strings.Split(read(t, page), "\n")
	for i, b := range slices.Backward(stale) {
		lines = slices.Replace(lines, b.line-1, b.line-1+len(b.lines), strings.Split(printed[i], "\n")...)
	}
	if err := os.WriteFile(filepath.Join(root, page), []byte(strings.Join(lines, "\n")), 0o644); err != nil {
		t.Fatal(err)
	}
}
