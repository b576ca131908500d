package compare

import (
	"bytes"
	"math"
	"strconv"

	"github.com/spillway-dev/spillway/config"
	"github.com/spillway-dev/spillway/policy/shed"
)

// Answer is one of the two.
type Answer struct {
	Status int
	// Coding is its Content-Encoding.
	Coding string
	Body   []byte
}

// How is a way to compare. It is not changed once made.
type How struct {
	word    config.CompareWord
	way, id way
	scale   float64
	top     int
}

// New returns the way that a configuration which passed validation, with its defaults,
// says.
func New(c config.Compare) How {
	h := How{word: c.Word, scale: c.Scale, top: c.Top}
	switch c.Word {
	case config.CompareField:
		h.way = wayOf(c.Field)
	case config.CompareNumber:
		h.way = wayOf(c.Number)
	case config.CompareOverlap:
		h.way = wayOf(c.Overlap)
	}
	if c.ID != "" {
		h.id = wayOf(c.ID)
	}
	return h
}

// Distance returns how far the other answer is from the primary's; false where that
// cannot be said. Neither is changed.
func (h How) Distance(primary, other Answer) (shed.Gap, bool) {
	if h.word == config.CompareStatus {
		return same(primary.Status == other.Status), true
	}
	if other.Status != primary.Status {
		return shed.Useless, true
	}
	if h.word == config.CompareExact && primary.Coding == other.Coding {
		return same(bytes.Equal(primary.Body, other.Body)), true
	}
	a, ok := primary.unpacked()
	if !ok {
		return 0, false
	}
	b, ok := other.unpacked()
	if !ok {
		return shed.Useless, true
	}
	if h.word == config.CompareExact {
		return same(bytes.Equal(a, b)), true
	}
	mine, ok := h.way.in(a)
	if !ok {
		return 0, false
	}
	its, ok := h.way.in(b)
	if !ok {
		its = nil
	}
	switch h.word {
	case config.CompareNumber:
		return h.apart(mine, its)
	case config.CompareOverlap:
		return h.overlap(mine, its)
	}
	return same(ok && canonical(mine) == canonical(its)), true
}

func same(is bool) shed.Gap {
	if is {
		return 0
	}
	return shed.Useless
}

// apart is how far two numbers are from each other, as a part of the scale.
func (h How) apart(mine, its any) (shed.Gap, bool) {
	a, ok := number(mine)
	if !ok {
		return 0, false
	}
	b, ok := number(its)
	switch {
	case !ok:
		return shed.Useless, true
	case a == b:
		return 0, true
	}
	scale := h.scale
	if scale == 0 {
		scale = max(math.Abs(a), math.Abs(b))
	}
	return shed.GapOf(math.Abs(a-b) / scale), true
}

// overlap is which part of the primary's first ones is not among the other's.
func (h How) overlap(mine, its any) (shed.Gap, bool) {
	a, ok := mine.([]any)
	if !ok {
		return 0, false
	}
	b, ok := its.([]any)
	if !ok {
		return shed.Useless, true
	}
	a, b = a[:min(len(a), h.top)], b[:min(len(b), h.top)]
	if len(a) == 0 {
		return same(len(b) == 0), true
	}
	there := make(map[string]int, len(b))
	for _, v := range b {
		there[h.identity(v)]++
	}
	missing := 0
	for _, v := range a {
		id := h.identity(v)
		if there[id] == 0 {
			missing++
			continue
		}
		there[id]--
	}
	return shed.GapOf(float64(missing) / float64(len(a))), true
}

// identity is what tells an element of a list from the others.
func (h How) identity(v any) string {
	if h.id != nil {
		if part, ok := h.id.from(v); ok {
			return canonical(part)
		}
	}
	return canonical(v)
}

// number reads a JSON number, or text that is one. It is finite.
func number(v any) (float64, bool) {
	text, ok := textOf(v)
	if !ok || len(text) > 64 {
		return 0, false
	}
	f, err := strconv.ParseFloat(text, 64)
	return f, err == nil && !math.IsInf(f, 0) && !math.IsNaN(f)
}
