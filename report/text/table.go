package text

import (
	"fmt"
	"io"
	"slices"
	"strings"
)

// A Table has its names in the first column, to the left, and figures in the
// others, to the right. Columns listed in Left hold words.
type Table struct {
	Title string // optional, a line above
	Head  []string
	Rows  [][]string
	Left  []int
	// Total draws a hairline above the last row.
	Total bool
}

// WriteTable draws a table. Where it would be wider than the options allow its
// columns of words are cut, the widest first; if figures alone are too wide
// the last columns are left out and a line below names them.
func WriteTable(w io.Writer, t Table, o Options) error {
	const gap = 2
	cells := make([][]string, 0, len(t.Rows)+1)
	for _, row := range append([][]string{t.Head}, t.Rows...) {
		clean := make([]string, len(t.Head))
		for i := range clean {
			if i < len(row) {
				clean[i] = Clean(row[i])
			}
		}
		cells = append(cells, clean)
	}
	word := func(i int) bool { return i == 0 || slices.Contains(t.Left, i) }
	widths := make([]int, len(t.Head))
	for i := range widths {
		for _, row := range cells {
			widths[i] = max(widths[i], columns(row[i]))
		}
	}
	shown := len(widths)
	total := func() int {
		sum := gap * (shown - 1)
		for _, n := range widths[:shown] {
			sum += n
		}
		return sum
	}
	const narrowest = 8 // columns a word is cut to before a column is left out
	for shown > 1 && total() > o.width() {
		widest := -1
		for i := range shown {
			if word(i) && widths[i] > narrowest && (widest < 0 || widths[i] > widths[widest]) {
				widest = i
			}
		}
		if widest < 0 {
			shown--
			continue
		}
		widths[widest] = max(narrowest, widths[widest]-(total()-o.width()))
	}
	if shown == 1 {
		widths[0] = min(widths[0], o.width())
	}

	var b strings.Builder
	if t.Title != "" {
		fmt.Fprintln(&b, o.bold(Clean(t.Title)))
	}
	for r, row := range cells {
		if t.Total && r == len(cells)-1 && r > 1 {
			fmt.Fprintln(&b, o.dim(strings.Repeat("-", total())))
		}
		var line strings.Builder
		for i := range shown {
			if i > 0 {
				line.WriteString(strings.Repeat(" ", gap))
			}
			if word(i) {
				line.WriteString(left(fit(row[i], widths[i]), widths[i]))
			} else {
				line.WriteString(right(row[i], widths[i]))
			}
		}
		text := strings.TrimRight(line.String(), " ")
		if r == 0 {
			text = o.dim(text)
		}
		fmt.Fprintln(&b, text)
	}
	if shown < len(t.Head) {
		for _, line := range wrap("Not shown for want of room: "+strings.Join(cells[0][shown:], ", ")+".", o.width()) {
			fmt.Fprintln(&b, o.dim(line))
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}
