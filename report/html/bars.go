package html

import (
	"html/template"
	"math"
	"strings"

	"github.com/spillway-dev/spillway/report"
)

// maxBars drawn in one chart; the table twin has all.
const maxBars = 40

// A Bar is one value, perhaps with the range it may lie in.
type Bar struct {
	Name  string
	Value report.Number
	Low   report.Number // of its confidence range; None where there is none
	High  report.Number
	Class string // of the river's bands: "served", "ours", ...; "" is served
}

// Bars compares values from zero, each with its name and number.
type Bars struct {
	Heading, Caption string
	X                Axis
	Bars             []Bar
	Half             bool
}

func (b Bars) view(id string) sectionView {
	v := sectionView{ID: id, Heading: b.Heading, Caption: b.Caption, Half: b.Half, Twin: true}
	if len(b.Bars) == 0 {
		v.Note = "No values: there is nothing to compare."
		return v
	}
	if len(b.Bars) > maxBars {
		v.Note = "More bars are in the table."
	}
	for _, s := range sizes(b.Half) {
		v.Charts = append(v.Charts, chartView{s.name, b.draw(s)})
	}
	v.Table = b.table().draw()
	return v
}

func (b Bars) draw(s size) template.HTML {
	bars := b.Bars[:min(len(b.Bars), maxBars)]
	const row, thick = 26.0, 14.0
	low, high, widest := 0.0, 0.0, 0.0
	for _, bar := range bars {
		for _, v := range []report.Number{bar.Value, bar.Low, bar.High} {
			if v.Known() {
				low, high = min(low, float64(v)), max(high, float64(v))
			}
		}
		widest = max(widest, float64(len([]rune(bar.Name)))*letter)
	}
	if low == 0 && high == 0 {
		high = 1
	}
	names := min(widest+8, s.width*0.38)
	s.height = 8 + row*float64(len(bars)) + 40
	f := frame{left: names, right: s.width - 64, top: 8, bottom: s.height - 40}
	f.x = scale{from: low, to: high, start: f.left, end: f.right}
	if low == 0 {
		f.x.to = roundUp(high, 4)
	}

	var d drawing
	d.open(s, b.Heading+": "+b.X.String())
	for _, v := range ticks(f.x.from, f.x.to, int(max(2, (f.right-f.left)/110))) {
		d.line("grid", f.x.at(v), f.top, f.x.at(v), f.bottom+4)
		d.text("tick middle", f.x.at(v), f.bottom+16, tickText(v))
	}
	d.text("axis end", f.right, f.bottom+32, b.X.String())
	for i, bar := range bars {
		y := f.top + row*float64(i) + (row-thick)/2
		d.text("label end", names-8, y+11, cut(bar.Name, names-8))
		if !bar.Value.Known() {
			d.text("tick", f.left+4, y+11, "not known")
			continue
		}
		x0, x1 := f.x.at(0), f.x.at(float64(bar.Value))
		d.rect("band "+barClass(bar.Class), min(x0, x1), y, math.Abs(x1-x0), thick)
		end := max(x0, x1)
		if bar.Low.Known() && bar.High.Known() {
			lo, hi := f.x.at(float64(bar.Low)), f.x.at(float64(bar.High))
			d.line("range", lo, y+thick/2, hi, y+thick/2)
			d.line("range", lo, y+3, lo, y+thick-3)
			d.line("range", hi, y+3, hi, y+thick-3)
			end = max(end, hi)
		}
		d.text("label", end+6, y+11, report.Format(bar.Value))
	}
	d.line("zero", f.x.at(0), f.top, f.x.at(0), f.bottom)
	return d.close()
}

// barClass admits only the style sheet's own names.
func barClass(name string) string {
	switch name {
	case "served", "rung1", "rung2", "rung3", "rung4", "waiting", "caller", "ours", "failed":
		return name
	default:
		return "served"
	}
}

func (b Bars) table() Table {
	ranges := false
	for _, bar := range b.Bars {
		ranges = ranges || bar.Low.Known() && bar.High.Known()
	}
	t := Table{Head: []string{"", strings.TrimSpace(b.X.Name + " " + b.X.Unit)}}
	if ranges {
		t.Head = append(t.Head, "from", "to")
	}
	for _, bar := range b.Bars {
		row := []string{bar.Name, report.Format(bar.Value)}
		if ranges {
			row = append(row, report.Format(bar.Low), report.Format(bar.High))
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}
