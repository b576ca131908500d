package html

import (
	"fmt"
	"html/template"
	"math"
	"strings"

	"github.com/spillway-dev/spillway/report"
)

// maxLines drawn in one chart; the table twin has all.
const maxLines = 8

// An Axis of a chart. Unit stands beside its name.
type Axis struct {
	Name, Unit string
	// Log is for tails; the axis then starts at the smallest positive value,
	// else at zero.
	Log bool
	// To is where an x axis ends, if that is after its last value.
	To float64
}

// String is the name with its unit, as the axis shows it.
func (a Axis) String() string {
	if a.Unit == "" {
		return a.Name
	}
	return a.Name + ", " + a.Unit
}

// A Line is one y for every x of its chart; [report.None] is a gap.
type Line struct {
	Name string
	Y    []report.Number
	// Bound draws it as a limit: dashed, in the colour of capacity.
	Bound bool
}

// Lines is a chart of lines over a common, rising x.
type Lines struct {
	Heading, Caption string
	X, Y             Axis
	At               []float64
	Lines            []Line
	Half             bool
}

func (l Lines) view(id string) sectionView {
	v := sectionView{ID: id, Heading: l.Heading, Caption: l.Caption, Half: l.Half, Twin: true}
	if _, _, ok := l.extent(); !ok {
		v.Note = "No values: the run recorded nothing that this chart shows."
		return v
	}
	if more := len(l.Lines) - maxLines; more > 0 {
		v.Note = fmt.Sprintf("%d more lines are in the table.", more)
	}
	for _, s := range sizes(l.Half) {
		v.Charts = append(v.Charts, chartView{s.name, l.draw(s)})
	}
	v.Table = l.table().draw()
	return v
}

func (l Lines) shown() []Line { return l.Lines[:min(len(l.Lines), maxLines)] }

// extent is the smallest positive and the largest value shown.
func (l Lines) extent() (low, high float64, ok bool) {
	low = math.Inf(1)
	for _, line := range l.shown() {
		for i := range min(len(line.Y), len(l.At)) {
			if v := float64(line.Y[i]); line.Y[i].Known() {
				ok = true
				high = max(high, v)
				if v > 0 {
					low = min(low, v)
				}
			}
		}
	}
	return low, high, ok
}

func (l Lines) draw(s size) template.HTML {
	low, high, _ := l.extent()
	y := scale{from: 0, to: roundUp(high, 4)}
	log := l.Y.Log && high > 0 && !math.IsInf(low, 0)
	if log {
		y = scale{from: math.Pow(10, math.Floor(math.Log10(low))), to: math.Pow(10, math.Ceil(math.Log10(high)-1e-9)), log: true}
		if y.from == y.to {
			y.to *= 10
		}
	}
	names := make([]string, 0, len(l.shown()))
	for _, line := range l.shown() {
		names = append(names, line.Name)
	}
	room := labelRoom(names, s.labels)
	f := frame{left: tickRoom(y), right: s.width - room, top: 28, bottom: s.height - 40}
	from, to := l.At[0], l.At[len(l.At)-1]
	if !l.X.Log {
		from = min(0, from)
	}
	f.x = scale{from: from, to: max(to, from, l.X.To), start: f.left, end: f.right, log: l.X.Log && from > 0}
	y.start, y.end = f.bottom, f.top
	f.y = y

	var d drawing
	d.open(s, l.Heading+": "+l.Y.String()+" by "+l.X.String(), f.data()...)
	d.axes(f, l.X.String(), l.Y.String())
	middles := make([]float64, len(names))
	for i, line := range l.shown() {
		points, last := l.points(f, line)
		d.path(lineClass(i, line), points)
		middles[i] = last + 4
	}
	order := byHeight(middles)
	sorted := make([]float64, len(order))
	for i, j := range order {
		sorted[i] = middles[j]
	}
	spread(sorted, f.top+4, f.bottom+4)
	for i, j := range order {
		x := f.right + 4
		d.line(lineClass(j, l.shown()[j]), x, sorted[i]-4, x+14, sorted[i]-4)
		d.text("label", x+20, sorted[i], cut(names[j], room-24))
	}
	d.crosshair(f)
	return d.close()
}

func lineClass(i int, l Line) string {
	if l.Bound {
		return "line capacity"
	}
	return fmt.Sprintf("line l%d", i%maxLines)
}

// points of a line, broken at gaps, and the y of its last one.
func (l Lines) points(f frame, line Line) (string, float64) {
	var b strings.Builder
	last := f.bottom
	drawing := false
	for i := range min(len(line.Y), len(l.At)) {
		if !line.Y[i].Known() {
			drawing = false
			continue
		}
		x, y := f.x.at(l.At[i]), f.y.at(float64(line.Y[i]))
		command := "L"
		if !drawing {
			command = "M"
			// A point between two gaps still shows, as a dot of the round cap.
			if i+1 >= len(line.Y) || !line.Y[i+1].Known() {
				fmt.Fprintf(&b, "M%s %s", num(x), num(y))
				command = "L"
			}
		}
		fmt.Fprintf(&b, "%s%s %s", command, num(x), num(y))
		drawing, last = true, y
	}
	return b.String(), last
}

// byHeight orders labels from the bottom of the chart up; ties by index.
func byHeight(y []float64) []int {
	order := make([]int, len(y))
	for i := range order {
		order[i] = i
		for j := i; j > 0 && y[order[j]] > y[order[j-1]]; j-- {
			order[j], order[j-1] = order[j-1], order[j]
		}
	}
	return order
}

func (l Lines) table() Table {
	t := Table{Head: []string{strings.TrimSpace(l.X.Name + " " + l.X.Unit)}}
	for _, line := range l.Lines {
		t.Head = append(t.Head, strings.TrimSpace(line.Name+" "+l.Y.Unit))
	}
	for i, at := range l.At {
		row := []string{report.Number(at).String()}
		for _, line := range l.Lines {
			value := report.None()
			if i < len(line.Y) {
				value = line.Y[i]
			}
			row = append(row, report.Format(value))
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}
