package text

import (
	"os"

	"golang.org/x/term"
)

// DefaultWidth is the widest line of a report, in columns.
const DefaultWidth = 100

// Options of everything this package draws; the zero value is plain text of 100
// columns.
type Options struct {
	Width int // columns; 0 means 100, less than 60 means 60
	Color bool
}

// For returns the options for a file: colour only on a terminal, never with
// NO_COLOR set or TERM=dumb. The width does not follow the terminal's, so that
// a report looks the same wherever it is read.
func For(f *os.File) Options {
	return Options{Color: os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb" && term.IsTerminal(int(f.Fd()))}
}

func (o Options) width() int {
	if o.Width == 0 {
		return DefaultWidth
	}
	return max(60, o.Width)
}

func (o Options) bold(s string) string { return o.style("1", s) }
func (o Options) dim(s string) string  { return o.style("2", s) }

func (o Options) style(code, s string) string {
	if !o.Color || s == "" {
		return s
	}
	return "\x1b[" + code + "m" + s + "\x1b[0m"
}
