package html

import (
	"fmt"
	"html/template"
	"math"
	"strconv"
	"strings"
	"unicode"
)

func printable(r rune) bool { return unicode.IsPrint(r) }

// size of a drawing. The style sheet shows s below 720 px, m below 1,184 px and
// l from there, so that letters keep their size.
type size struct {
	name          string
	width, height float64
	labels        float64 // most that the words at the right edge may take
	buckets       int     // more than this many are averaged
}

var (
	fullSizes = []size{{"s", 328, 240, 140, 100}, {"m", 840, 320, 190, 200}, {"l", 1120, 360, 190, 260}}
	halfSizes = []size{{"s", 328, 200, 140, 100}, {"m", 840, 240, 190, 200}, {"l", 544, 240, 190, 150}}
)

func sizes(half bool) []size {
	if half {
		return halfSizes
	}
	return fullSizes
}

const (
	letter     = 6.9 // mean width of a letter of 12 px type in the widest system font seen
	lineHeight = 16.0
)

// drawing builds an SVG; texts are escaped here and nowhere else.
type drawing struct{ b strings.Builder }

func (d *drawing) open(s size, label string, extra ...string) {
	fmt.Fprintf(&d.b, `<svg viewBox="0 0 %s %s" width="%s" height="%s" role="img" aria-label="%s"`,
		num(s.width), num(s.height), num(s.width), num(s.height), template.HTMLEscapeString(clean(label)))
	for i := 0; i+1 < len(extra); i += 2 {
		fmt.Fprintf(&d.b, ` %s="%s"`, extra[i], template.HTMLEscapeString(extra[i+1]))
	}
	d.b.WriteString(">")
}

func (d *drawing) line(class string, x1, y1, x2, y2 float64) {
	fmt.Fprintf(&d.b, `<line class="%s" x1="%s" y1="%s" x2="%s" y2="%s"/>`, class, num(x1), num(y1), num(x2), num(y2))
}

func (d *drawing) rect(class string, x, y, w, h float64) {
	fmt.Fprintf(&d.b, `<rect class="%s" x="%s" y="%s" width="%s" height="%s"/>`, class, num(x), num(y), num(max(0, w)), num(max(0, h)))
}

func (d *drawing) path(class, points string) {
	if points != "" {
		fmt.Fprintf(&d.b, `<path class="%s" d="%s"/>`, class, points)
	}
}

func (d *drawing) text(class string, x, y float64, s string) {
	fmt.Fprintf(&d.b, `<text class="%s" x="%s" y="%s">%s</text>`, class, num(x), num(y), template.HTMLEscapeString(clean(s)))
}

func (d *drawing) close() template.HTML {
	d.b.WriteString("</svg>")
	return template.HTML(d.b.String())
}

// num writes a coordinate to a tenth of a pixel, which nobody can see.
func num(f float64) string {
	s := strconv.FormatFloat(math.Round(f*10)/10, 'f', -1, 64)
	if s == "-0" {
		return "0"
	}
	return s
}

// cut shortens a word to about n pixels.
func cut(s string, pixels float64) string {
	r := []rune(clean(s))
	if n := int(pixels / letter); len(r) > max(n, 2) {
		return string(r[:max(n, 2)-1]) + "…"
	}
	return string(r)
}

// labelRoom is how wide the words at the right edge are, swatch included.
func labelRoom(names []string, most float64) float64 {
	widest := 0.0
	for _, n := range names {
		widest = max(widest, float64(len([]rune(n)))*letter)
	}
	return min(widest+28, most)
}

// spread moves labels apart until no two overlap, in the order given from the
// bottom up, and keeps them between top and bottom where that is possible.
func spread(y []float64, top, bottom float64) {
	for i := range y {
		y[i] = min(y[i], bottom)
		if i > 0 {
			y[i] = min(y[i], y[i-1]-lineHeight)
		}
	}
	for i := len(y) - 1; i >= 0; i-- {
		y[i] = max(y[i], top)
		if i < len(y)-1 {
			y[i] = max(y[i], y[i+1]+lineHeight)
		}
	}
}
