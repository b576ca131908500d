// Package docs_test keeps what README, docs/ and examples/ say true: every command that they
// show is run, what they show a command to print is what it prints, and every
// link leads somewhere.
//
// In a page, a block fenced as
//
//	sh       has its lines run that begin with spillway or go run ./cmd/spillway.
//	         They must end with 0, or with N where the line ends in "# exits N"
//	         (without a language, lines that begin with $ are commands, and what
//	         follows are lines that they print)
//	output   holds to the byte what the block of commands before it prints on
//	         standard output
//
// Commands that would not end by themselves or need a service (serve, demo, load,
// and what is after a pipe of theirs) are not run but have their flags read. After
// a change of policy, go test ./test/docs -update writes the output anew: read the
// difference as a reviewer, it is what changed for an operator.
package docs_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const root = "../.."

// pages returns README, CONTRIBUTING, CHANGELOG and all of docs/ and examples/.
func pages(t *testing.T) []string {
	t.Helper()
	all := []string{"README.md", "CONTRIBUTING.md", "CHANGELOG.md"}
	for _, folder := range []string{"docs", "examples"} {
		err := filepath.WalkDir(filepath.Join(root, folder), func(path string, e os.DirEntry, err error) error {
			if err == nil && strings.HasSuffix(path, ".md") {
				path, err = filepath.Rel(root, path)
				all = append(all, filepath.ToSlash(path))
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return all
}

func read(t *testing.T, page string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, page))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// block is a fenced block of a page.
type block struct {
	language string
	line     int // of its first line, 1 the page's first
	lines    []string
}

// blocks returns the fenced blocks of a page, in order.
func blocks(page string) []block {
	var all []block
	var open *block
	for i, line := range strings.Split(page, "\n") {
		fence, fenced := strings.CutPrefix(line, "```")
		switch {
		case fenced && open == nil:
			open = &block{language: strings.TrimSpace(fence), line: i + 2}
		case fenced:
			all = append(all, *open)
			open = nil
		case open != nil:
			open.lines = append(open.lines, line)
		}
	}
	return all
}

func TestBlocks(t *testing.T) {
	got := blocks("a\n```sh\nspillway version\n```\n```output\n1\n2\n```\n")
	if len(got) != 2 || got[0].language != "sh" || got[0].line != 3 || len(got[1].lines) != 2 {
		t.Errorf("blocks = %+v", got)
	}
}
