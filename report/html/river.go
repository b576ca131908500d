package html

import (
	"fmt"
	"html/template"
	"strconv"
	"strings"

	"github.com/spillway-dev/spillway/report"
)

// River is the one picture of spillway: what happened to the requests offered.
type River struct {
	Heading, Caption string
	River            report.River
	Half             bool // small: two beside each other where there is room
	// Top of the y axis in requests/s, to make several comparable; 0 is the
	// river's own.
	Top float64
}

// bandClass is the style of a band; the style sheet gives it its colour.
func bandClass(b report.Band) string {
	switch b.Kind {
	case report.BandServed:
		return "served"
	case report.BandRung:
		return fmt.Sprintf("rung%d", min(max(b.Rung, 1), 4))
	case report.BandWaiting:
		return "waiting"
	case report.BandCaller:
		return "caller"
	case report.BandOurs:
		return "ours"
	case report.BandUnknown:
		return "unknown"
	default:
		return "failed"
	}
}

func (r River) view(id string) sectionView {
	v := sectionView{ID: id, Heading: r.Heading, Caption: r.Caption, Half: r.Half, Twin: true}
	if len(r.River.T) == 0 || len(r.River.Bands) == 0 {
		v.Note = "Nothing was offered: there will be a river here once something is."
		return v
	}
	v.Bucket = strconv.FormatFloat(r.River.BucketS, 'g', -1, 64)
	for _, s := range sizes(r.Half) {
		v.Charts = append(v.Charts, chartView{s.name, r.draw(s, id+s.name)})
	}
	v.Table = r.table().draw()
	return v
}

func (r River) draw(s size, id string) template.HTML {
	river := thin(r.River, s.buckets)
	names := make([]string, 0, len(river.Bands)+1)
	for _, b := range river.Bands {
		names = append(names, b.Name)
	}
	if capacityKnown(river) {
		names = append(names, "capacity")
	}
	room := labelRoom(names, s.labels)
	end := river.T[len(river.T)-1] + river.BucketS
	top := roundUp(max(r.Top, river.Top), 4)
	f := frame{left: tickRoom(scale{to: top}), right: s.width - room, top: 28, bottom: s.height - 40}
	f.x = scale{from: 0, to: end, start: f.left, end: f.right}
	f.y = scale{from: 0, to: top, start: f.bottom, end: f.top}

	var d drawing
	d.open(s, r.Heading+": requests per second over time, by what happened to them", f.data()...)
	fmt.Fprintf(&d.b, `<defs><pattern id="%s" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">`+
		`<rect class="hatch" width="6" height="6"/><line class="hatchline" x1="0" y1="0" x2="0" y2="6"/></pattern></defs>`, id)
	d.axes(f, "time, s", "requests/s")
	// The whole stack first, then lower and lower parts of it over it.
	sum := make([]float64, len(river.T))
	edges := make([]string, len(river.Bands))
	middles := make([]float64, len(river.Bands))
	for i, b := range river.Bands {
		last := len(sum) - 1
		middles[i] = f.y.at(sum[last]+b.PerS[last]/2) + 4
		for j, v := range b.PerS {
			sum[j] += v
		}
		edges[i] = steps(f, river, sum, true)
	}
	for i := len(edges) - 1; i >= 0; i-- {
		if river.Bands[i].Kind == report.BandUnknown {
			fmt.Fprintf(&d.b, `<path fill="url(#%s)" d="%s"/>`, id, edges[i])
			continue
		}
		d.path("band "+bandClass(river.Bands[i]), edges[i])
	}
	if capacityKnown(river) {
		d.path("capacity", capacityPath(f, river))
	}
	r.labels(&d, f, river, middles, room, id)
	d.crosshair(f)
	return d.close()
}

func (r River) labels(d *drawing, f frame, river report.River, y []float64, room float64, id string) {
	spread(y, f.top+4, f.bottom+4)
	x := f.right + 8
	for i, b := range river.Bands {
		if b.Kind == report.BandUnknown {
			fmt.Fprintf(&d.b, `<rect fill="url(#%s)" x="%s" y="%s" width="8" height="8"/>`, id, num(x), num(y[i]-8))
		} else {
			d.rect("band "+bandClass(b), x, y[i]-8, 8, 8)
		}
		d.text("label", x+13, y[i], cut(b.Name, room-24))
	}
	if last := river.Capacity; capacityKnown(river) {
		// Above the frame: the right edge belongs to the bands.
		text := "- - capacity " + report.FormatRate(report.Number(lastKnown(last)))
		d.text("axis end", f.right+room, f.top-8, text)
	}
}

func lastKnown(values []report.Number) float64 {
	for i := len(values) - 1; i >= 0; i-- {
		if values[i].Known() {
			return float64(values[i])
		}
	}
	return 0
}

func capacityKnown(r report.River) bool { return lastKnown(r.Capacity) > 0 }

// steps is the outline of values a bucket; closed makes an area down to zero.
func steps(f frame, r report.River, values []float64, closed bool) string {
	var b strings.Builder
	y := f.bottom
	fmt.Fprintf(&b, "M%s %s", num(f.left), num(y))
	for i, v := range values {
		next := f.y.at(v)
		if num(next) != num(y) {
			fmt.Fprintf(&b, "V%s", num(next))
			y = next
		}
		if i == len(values)-1 || num(f.y.at(values[i+1])) != num(y) {
			fmt.Fprintf(&b, "H%s", num(f.x.at(r.T[i]+r.BucketS)))
		}
	}
	if closed {
		fmt.Fprintf(&b, "V%sZ", num(f.bottom))
	}
	return b.String()
}

func capacityPath(f frame, r report.River) string {
	var b strings.Builder
	drawing := false
	for i, c := range r.Capacity {
		if i >= len(r.T) || !c.Known() {
			drawing = false
			continue
		}
		y := num(f.y.at(float64(c)))
		if !drawing {
			fmt.Fprintf(&b, "M%s %s", num(f.x.at(r.T[i])), y)
			drawing = true
		}
		fmt.Fprintf(&b, "V%sH%s", y, num(f.x.at(r.T[i]+r.BucketS)))
	}
	return b.String()
}

// thin averages neighbouring buckets until there are at most n.
func thin(r report.River, n int) report.River {
	by := (len(r.T) + n - 1) / n
	if by <= 1 {
		return r
	}
	out := report.River{BucketS: r.BucketS * float64(by), Top: r.Top}
	for i := 0; i < len(r.T); i += by {
		out.T = append(out.T, r.T[i])
		if i < len(r.Capacity) {
			out.Capacity = append(out.Capacity, r.Capacity[i])
		}
	}
	for _, b := range r.Bands {
		thinned := make([]float64, len(out.T))
		for i, v := range b.PerS {
			thinned[i/by] += v / float64(by)
		}
		b.PerS = thinned
		out.Bands = append(out.Bands, b)
	}
	return out
}

func (r River) table() Table {
	t := Table{Head: []string{"time s"}}
	for _, b := range r.River.Bands {
		t.Head = append(t.Head, b.Name+" /s")
	}
	known := capacityKnown(r.River)
	if known {
		t.Head = append(t.Head, "capacity /s")
	}
	for i, at := range r.River.T {
		row := []string{report.Number(at).String()}
		for _, b := range r.River.Bands {
			row = append(row, report.Format(report.Number(b.PerS[i])))
		}
		if known {
			row = append(row, report.Format(r.River.Capacity[i]))
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}
