package config

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// maxErrors bounds a report: a file of another format would otherwise print a
// line for each of its keys. The first few tell the story.
const maxErrors = 50

// Error is one problem: where it is, what is wrong and what would be right.
type Error struct {
	File   string `json:"file"`   // as given to Load or Parse; empty for a Config made in Go
	Line   int    `json:"line"`   // from 1; 0 where there is no file
	Column int    `json:"column"` // from 1, in characters
	Path   string `json:"path"`   // the key's way from the top, "classes.checkout.slots"; empty for the file as a whole
	What   string `json:"what"`   // what is wrong, without secrets
	Fix    string `json:"fix"`    // what would be right

	unknown bool // an unknown key, which may be a known one misspelt
}

// Error is one line: file:line:column: what; fix.
func (e *Error) Error() string { return line(e.File, e.Line, e.Column, e.What, e.Fix) }

// Errors is every problem of a file in the order of its lines. It is never empty.
type Errors []*Error

// Error is one line a problem, without a trailing line end.
func (es Errors) Error() string {
	var b strings.Builder
	for i, e := range es {
		if i == maxErrors {
			fmt.Fprintf(&b, "\nand %d more", len(es)-i)
			break
		}
		if i > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(e.Error())
	}
	return b.String()
}

// Unwrap gives the single problems to errors.As.
func (es Errors) Unwrap() []error {
	out := make([]error, len(es))
	for i, e := range es {
		out[i] = e
	}
	return out
}

// Warning is something that is allowed and probably not meant. Fields are as in [Error].
type Warning struct {
	File   string `json:"file"`
	Line   int    `json:"line"`
	Column int    `json:"column"`
	Path   string `json:"path"`
	What   string `json:"what"`
	Fix    string `json:"fix"`
}

// String is one line: file:line:column: warning: what; fix.
func (w Warning) String() string {
	return line(w.File, w.Line, w.Column, "warning: "+w.What, w.Fix)
}

func line(file string, ln, col int, what, fix string) string {
	if fix != "" {
		what += "; " + fix
	}
	switch {
	case file == "" && ln == 0:
		return "config: " + what
	case ln == 0:
		return file + ": " + what
	}
	return fmt.Sprintf("%s:%d:%d: %s", file, ln, col, what)
}

// problem is an error that does not know its place yet.
type problem struct{ what, fix string }

func (p *problem) Error() string { return p.what + "; " + p.fix }

func bad(fix, what string, args ...any) error {
	return &problem{what: fmt.Sprintf(what, args...), fix: fix}
}

// position is a place in the file, both from 1; zero is nowhere.
type position struct{ line, column int }

// source remembers where each key of a parsed file was written, for checks that
// look at several keys at once. A Config made in Go has none.
type source struct {
	file string
	at   map[string]position
}

// find is the place of path, or of the nearest key above it that was written.
func (s *source) find(path string) (string, position) {
	if s == nil {
		return "", position{}
	}
	for {
		if p, ok := s.at[path]; ok {
			return s.file, p
		}
		dot := strings.LastIndexByte(path, '.')
		if dot < 0 {
			return s.file, position{1, 1}
		}
		path = path[:dot]
	}
}

func sortErrors(es Errors) {
	slices.SortStableFunc(es, func(a, b *Error) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
}

// quote shows a value in a message: quoted, and cut so that a line stays a line.
func quote(s string) string {
	const most = 40
	if r := []rune(s); len(r) > most {
		s = string(r[:most]) + "..."
	}
	return fmt.Sprintf("%q", s)
}
