package table

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"strings"
)

// Missed is the exit code of a run in which a target was missed.
const Missed = 3

// A Table is one harness's rows, in the order in which they are printed.
type Table struct {
	Title string
	Notes []string // printed under the table
	rows  []*Row
}

// Row adds a row and returns it, to be filled round by round.
func (t *Table) Row(what, unit string, kind Kind, target Target) *Row {
	r := &Row{What: what, Unit: unit, Kind: kind, Target: target}
	t.rows = append(t.rows, r)
	return r
}

// Note adds a line to print under the table.
func (t *Table) Note(format string, args ...any) {
	t.Notes = append(t.Notes, fmt.Sprintf(format, args...))
}

// Write prints the table as Markdown.
func (t *Table) Write(w io.Writer) error {
	b := bufio.NewWriter(w)
	fmt.Fprintf(b, "## %s\n\n%s\n\n", t.Title, Machine())
	fmt.Fprintln(b, "| what | ours | against | ratio, difference or figure: median (least to most) | target | |")
	fmt.Fprintln(b, "| --- | --- | --- | --- | --- | --- |")
	for _, r := range t.rows {
		fmt.Fprintf(b, "| %s | %s | %s | %s | %s | %s |\n", r.What, r.side(r.Ours), r.side(r.Against), r.middle(), r.target(), r.verdict())
	}
	for _, note := range t.Notes {
		fmt.Fprintf(b, "\n%s\n", note)
	}
	fmt.Fprintln(b)
	return b.Flush()
}

// Finish prints the table to standard output and returns the exit code: Missed
// if a target was missed and gate is set, else 0. Missed targets are named on
// standard error in any case.
func (t *Table) Finish(gate bool) int {
	if err := t.Write(os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	code := 0
	for _, r := range t.rows {
		if r.Missed() {
			fmt.Fprintf(os.Stderr, "missed: %s: %s, target %s\n", r.What, r.middle(), r.target())
			if gate {
				code = Missed
			}
		}
	}
	return code
}

func (r *Row) side(figures []float64) string {
	if len(figures) == 0 {
		return "-"
	}
	return strings.TrimSpace(Format(Median(figures)) + " " + r.Unit)
}

func (r *Row) middle() string {
	m := r.measures()
	if len(m) == 0 {
		return "not measured"
	}
	unit := map[Kind]string{Ratio: "x", Inverse: "x"}[r.Kind]
	if r.Kind == Difference || r.Kind == Value && r.Unit != "" {
		unit = " " + r.Unit
	}
	return fmt.Sprintf("%s%s (%s to %s, n=%d)", Format(Median(m)), unit, Format(slices.Min(m)), Format(slices.Max(m)), len(m))
}

func (r *Row) target() string {
	if r.Target.op == "" {
		return "reported"
	}
	return r.Target.op + " " + strings.TrimSuffix(strings.TrimRight(fmt.Sprintf("%.3f", r.Target.at), "0"), ".")
}

func (r *Row) verdict() string {
	switch {
	case r.Target.op == "":
		return ""
	case r.Missed():
		return "**missed**"
	}
	return "holds"
}

// Machine describes what the figures were measured on, in one line.
func Machine() string {
	return fmt.Sprintf("%s, %d cores (%s), %s/%s.", runtime.Version(), runtime.NumCPU(), processor(), runtime.GOOS, runtime.GOARCH)
}

func processor() string {
	info, _ := os.ReadFile("/proc/cpuinfo")
	for line := range strings.Lines(string(info)) {
		if name, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(name) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return "processor unknown"
}
