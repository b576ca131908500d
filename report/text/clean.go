package text

import (
	"strings"
	"unicode"

	"golang.org/x/text/width"
)

// Clean makes a text that came from a caller harmless for a terminal: control
// and invisible characters become "?".
func Clean(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return '?'
	}, s)
}

// columns is how many columns a cleaned text takes.
func columns(s string) int {
	n := 0
	for _, r := range s {
		n += runeColumns(r)
	}
	return n
}

func runeColumns(r rune) int {
	switch k := width.LookupRune(r).Kind(); {
	case unicode.Is(unicode.Mn, r):
		return 0
	case k == width.EastAsianWide || k == width.EastAsianFullwidth:
		return 2
	default:
		return 1
	}
}

// fit cuts a text to n columns; a cut shows as "~" at the end.
func fit(s string, n int) string {
	if columns(s) <= n {
		return s
	}
	var b strings.Builder
	used := 0
	for _, r := range s {
		if used+runeColumns(r) > n-1 {
			break
		}
		used += runeColumns(r)
		b.WriteRune(r)
	}
	return b.String() + "~"
}

func left(s string, n int) string  { return s + strings.Repeat(" ", max(0, n-columns(s))) }
func right(s string, n int) string { return strings.Repeat(" ", max(0, n-columns(s))) + s }

// wrap breaks a text at spaces into lines of at most n columns; a word longer
// than a line stands on one of its own and is not cut.
func wrap(s string, n int) []string {
	var lines []string
	line := ""
	for _, word := range strings.Fields(s) {
		switch {
		case line == "":
			line = word
		case columns(line)+1+columns(word) <= n:
			line += " " + word
		default:
			lines = append(lines, line)
			line = word
		}
	}
	if line != "" {
		lines = append(lines, line)
	}
	return lines
}
