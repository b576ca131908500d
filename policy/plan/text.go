package plan

import (
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Columns of the terminal layout; a line is never wider than lineWidth.
const (
	lineWidth  = 100
	nameWidth  = 22
	valueWidth = 18
	noteColumn = 2 + nameWidth + 1 + valueWidth + 2
)

// WriteText writes the plan for a terminal: the finding in words, the warnings,
// then a table for each object, alphabetical, with formula and assumption beside
// each figure. At most 100 columns. It answers with the writer's error. Any
// io.Writer will do; the interface is spelled out because the core does no I/O
// of its own and imports none.
func WriteText(w interface{ Write([]byte) (int, error) }, p Plan) error {
	_, err := w.Write([]byte(p.String()))
	return err
}

// String is what [WriteText] writes.
func (p Plan) String() string {
	var b strings.Builder
	paragraph(&b, "", p.Finding)
	if len(p.Warnings) > 0 {
		b.WriteString("\nwarnings\n")
		for _, s := range p.Warnings {
			paragraph(&b, "- ", s)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(p.Upstreams)) {
		u := p.Upstreams[name]
		table(&b, "upstream "+name+" ("+u.State+")", u.Figures)
	}
	for _, name := range slices.Sorted(maps.Keys(p.Classes)) {
		c := p.Classes[name]
		table(&b, "class "+name+" ("+plural(c.Slots, "slot")+")", c.Figures)
		for _, t := range slices.Sorted(maps.Keys(c.Tenants)) {
			table(&b, "class "+name+", tenant "+t, c.Tenants[t].Figures)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(p.Quotas)) {
		q := p.Quotas[name]
		table(&b, "quota "+name+" (binding: "+q.Binding+")", q.Figures)
	}
	table(&b, "all classes", p.Figures)
	return b.String()
}

func table(b *strings.Builder, title string, fs []Figure) {
	if len(fs) == 0 {
		return
	}
	b.WriteString("\n" + cut(title, lineWidth) + "\n")
	for _, f := range fs {
		lines := wrap(f.Formula, lineWidth-noteColumn)
		lines = append(lines, wrap("if: "+f.Assumption, lineWidth-noteColumn)...)
		b.WriteString("  " + pad(cut(f.Name, nameWidth), nameWidth) + " " + padLeft(cut(f.value(), valueWidth), valueWidth) + "  " + lines[0] + "\n")
		for _, l := range lines[1:] {
			b.WriteString(strings.Repeat(" ", noteColumn) + l + "\n")
		}
	}
}

// paragraph writes wrapped text, the first line after mark, the rest below it.
func paragraph(b *strings.Builder, mark, text string) {
	for i, l := range wrap(text, lineWidth-len(mark)) {
		if i > 0 {
			mark = strings.Repeat(" ", len(mark))
		}
		b.WriteString(mark + l + "\n")
	}
}

// wrap breaks text into lines of at most width runes, one line at least. A word
// that is longer is broken.
func wrap(text string, width int) []string {
	var lines []string
	line, n := "", 0
	for _, word := range strings.Fields(printable(text)) {
		for size := utf8.RuneCountInString(word); ; size = utf8.RuneCountInString(word) {
			if n > 0 && n+1+size <= width {
				line, n = line+" "+word, n+1+size
				break
			}
			if n > 0 {
				lines = append(lines, line)
				line, n = "", 0
			}
			if size <= width {
				line, n = word, size
				break
			}
			r := []rune(word)
			lines, word = append(lines, string(r[:width])), string(r[width:])
		}
	}
	if n > 0 || len(lines) == 0 {
		lines = append(lines, line)
	}
	return lines
}

func cut(s string, width int) string {
	r := []rune(printable(s))
	if len(r) <= width {
		return string(r)
	}
	return string(r[:width-1]) + "…"
}

// printable keeps names from moving the cursor of the terminal they are shown on.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return ' '
	}, s)
}

func pad(s string, width int) string {
	return s + strings.Repeat(" ", max(0, width-utf8.RuneCountInString(s)))
}

func padLeft(s string, width int) string {
	return strings.Repeat(" ", max(0, width-utf8.RuneCountInString(s))) + s
}
