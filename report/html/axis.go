package html

import (
	"math"
	"strconv"
	"strings"
)

// scale maps values to pixels, linearly or by the logarithm.
type scale struct {
	from, to   float64 // values
	start, end float64 // pixels
	log        bool
}

func (s scale) at(v float64) float64 {
	from, to := s.from, s.to
	if s.log {
		v, from, to = math.Log10(max(v, s.from)), math.Log10(from), math.Log10(to)
	}
	if to == from {
		return s.start
	}
	return s.start + (v-from)/(to-from)*(s.end-s.start)
}

// ticks are round values from from to to, about n of them.
func ticks(from, to float64, n int) []float64 {
	if !(to > from) || n < 1 {
		return []float64{from}
	}
	step := math.Pow(10, math.Floor(math.Log10((to-from)/float64(n))))
	for _, m := range []float64{1, 2, 5, 10} {
		if (to-from)/(step*m) <= float64(n) {
			step *= m
			break
		}
	}
	var out []float64
	for i := math.Ceil(from/step - 1e-9); i*step <= to+step*1e-9; i++ {
		out = append(out, i*step+0) // + 0: no tick at -0
	}
	return out
}

// roundUp is the first tick at or above v, for the end of an axis.
func roundUp(v float64, n int) float64 {
	if !(v > 0) {
		return 1
	}
	t := ticks(0, v, n)
	last := t[len(t)-1]
	if last >= v*(1-1e-9) || len(t) < 2 {
		return max(last, v)
	}
	return last + t[1]
}

// decades are the powers of ten from from to to.
func decades(from, to float64) []float64 {
	var out []float64
	for e := math.Ceil(math.Log10(from) - 1e-9); e <= math.Log10(to)+1e-9; e++ {
		out = append(out, math.Pow(10, e))
	}
	return out
}

// tickText writes the value of a tick as short as it can be read.
func tickText(v float64) string {
	s := strconv.FormatFloat(v, 'f', -1, 64)
	if math.Abs(v) >= 1000 {
		s = strconv.FormatFloat(v, 'f', 0, 64)
		for i := len(s) - 3; i > 0; i -= 3 {
			s = s[:i] + "," + s[i:]
		}
		return s
	}
	if len(s) > 6 { // 0.30000000000000004
		s = strconv.FormatFloat(v, 'g', 3, 64)
	}
	return strings.TrimSpace(s)
}

// frame is the part of a drawing inside its axes.
type frame struct {
	left, right, top, bottom float64
	x, y                     scale
}

// tickRoom is how many pixels the texts of a y axis take.
func tickRoom(y scale) float64 {
	widest := 0
	for _, v := range yTicks(y) {
		widest = max(widest, len(tickText(v)))
	}
	return 12 + float64(widest)*7
}

func yTicks(y scale) []float64 {
	if y.log {
		return decades(y.from, y.to)
	}
	return ticks(y.from, y.to, 4)
}

// axes draws hairlines, ticks and the names of both axes with their units.
func (d *drawing) axes(f frame, xName, yName string) {
	d.text("axis", f.left, f.top-8, yName)
	for _, v := range yTicks(f.y) {
		d.line("grid", f.left, f.y.at(v), f.right, f.y.at(v))
		d.text("tick end", f.left-6, f.y.at(v)+4, tickText(v))
	}
	xTicks := ticks(f.x.from, f.x.to, int(max(2, (f.right-f.left)/90)))
	if f.x.log {
		xTicks = decades(f.x.from, f.x.to)
	}
	for _, v := range xTicks {
		d.line("grid", f.x.at(v), f.bottom, f.x.at(v), f.bottom+4)
		d.text("tick middle", f.x.at(v), f.bottom+16, tickText(v))
	}
	d.text("axis end", f.right, f.bottom+32, xName)
}

// crosshair is the line that the script moves, and where it may be.
func (d *drawing) crosshair(f frame) {
	d.line("cross", f.left, f.top, f.left, f.bottom)
}

func (f frame) data() []string {
	kind := "linear"
	if f.x.log {
		kind = "log"
	}
	return []string{"data-x", strings.Join([]string{num(f.left), num(f.right),
		strconv.FormatFloat(f.x.from, 'g', -1, 64), strconv.FormatFloat(f.x.to, 'g', -1, 64), kind}, " ")}
}
