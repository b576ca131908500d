package workload

import (
	"fmt"
	"slices"
	"sort"
	"strconv"
	"strings"
	"time"
)

// Conditions say when what serves the requests is slow or out. The zero value
// is a service that never is. Safe for concurrent use.
type Conditions struct {
	windows   []Window
	stretches []stretch // in order of time, the first from 0
}

// Window is a time in which something is wrong.
type Window struct {
	From   time.Duration // since the start, 0 or more
	For    time.Duration // more than 0
	Factor float64       // service takes so many times as long; 0 is an outage, in which nothing finishes
}

// Condition is how things are at an instant.
type Condition struct {
	Factor float64       // service takes so many times as long; 1 when nothing is wrong; 0 in an outage
	Until  time.Duration // when this changes; 0 is never
}

// Out reports whether nothing finishes.
func (c Condition) Out() bool { return c.Factor == 0 }

type stretch struct {
	from   time.Duration
	factor float64
}

// NewConditions returns the conditions of these windows. Where they overlap,
// factors multiply and an outage wins.
func NewConditions(windows ...Window) (Conditions, error) {
	if len(windows) > 1000 {
		return Conditions{}, fmt.Errorf("%d conditions: the most is 1,000", len(windows))
	}
	edges := []time.Duration{0}
	for _, w := range windows {
		switch {
		case w.From < 0 || w.For <= 0 || w.From+w.For < 0:
			return Conditions{}, fmt.Errorf("a condition from %v for %v: must start at 0s or later and last more than 0s", w.From, w.For)
		case !(w.Factor == 0 || w.Factor >= 0.001 && w.Factor <= 1e6):
			return Conditions{}, fmt.Errorf("a condition of factor %v: must be from 0.001 to 1,000,000", w.Factor)
		}
		edges = append(edges, w.From, w.From+w.For)
	}
	slices.Sort(edges)
	c := Conditions{windows: slices.Clone(windows)}
	for _, from := range slices.Compact(edges) {
		factor, out := 1.0, false
		for _, w := range windows {
			if w.From <= from && from < w.From+w.For {
				factor = float64(factor * w.Factor)
				out = out || w.Factor == 0
			}
		}
		if !out && !(factor >= 1e-9 && factor <= 1e9) {
			return Conditions{}, fmt.Errorf("the factors at %v multiply to %g: must be from 1e-9 to 1e9", from, factor)
		}
		c.stretches = append(c.stretches, stretch{from, factor})
	}
	return c, nil
}

// ParseConditions reads slow-downs and outages, each with its start and length:
//
//	x3@10s+5s,outage@20s+10s
func ParseConditions(text string) (Conditions, error) {
	var windows []Window
	if text = strings.TrimSpace(text); text == "" {
		return Conditions{}, nil
	}
	for part := range strings.SplitSeq(text, ",") {
		what, when, timed := strings.Cut(strings.TrimSpace(part), "@")
		from, length, long := strings.Cut(when, "+")
		var w Window
		var err, errFrom, errFor error
		if what != "outage" {
			w.Factor, err = strconv.ParseFloat(strings.TrimPrefix(what, "x"), 64)
			if !strings.HasPrefix(what, "x") || w.Factor == 0 {
				err = strconv.ErrSyntax
			}
		}
		w.From, errFrom = duration(from)
		w.For, errFor = duration(length)
		if err != nil || errFrom != nil || errFor != nil || !timed || !long {
			return Conditions{}, fmt.Errorf("conditions %q: %q is neither a slow-down nor an outage; write x3@10s+5s or outage@20s+10s (start+length)", text, part)
		}
		windows = append(windows, w)
	}
	c, err := NewConditions(windows...)
	if err != nil {
		return Conditions{}, fmt.Errorf("conditions %q: %w", text, err)
	}
	return c, nil
}

// String writes the conditions as ParseConditions reads them.
func (c Conditions) String() string {
	parts := make([]string, len(c.windows))
	for i, w := range c.windows {
		what := "outage"
		if w.Factor > 0 {
			what = "x" + strconv.FormatFloat(w.Factor, 'g', -1, 64)
		}
		parts[i] = fmt.Sprintf("%s@%v+%v", what, w.From, w.For)
	}
	return strings.Join(parts, ",")
}

// Windows returns a copy of what the conditions were made from.
func (c Conditions) Windows() []Window { return slices.Clone(c.windows) }

// At returns how things are at t.
func (c Conditions) At(t time.Duration) Condition {
	i := sort.Search(len(c.stretches), func(i int) bool { return c.stretches[i].from > t }) - 1
	if i < 0 {
		return Condition{Factor: 1}
	}
	now := Condition{Factor: c.stretches[i].factor}
	if i+1 < len(c.stretches) {
		now.Until = c.stretches[i+1].from
	}
	return now
}

// Finish returns when work that is begun at start is finished, if it takes
// service while nothing is wrong. It goes on at 1/factor of its speed while it
// is slowed down, and stands still in an outage.
func (c Conditions) Finish(start, service time.Duration) time.Duration {
	at, left := start, service
	for {
		now := c.At(at)
		if now.Until == 0 {
			return later(at, slowed(left, now.Factor))
		}
		if !now.Out() {
			if need := slowed(left, now.Factor); need <= now.Until-at {
				return at + need
			}
			left -= time.Duration(float64(now.Until-at) / now.Factor)
		}
		at = now.Until
	}
}

// slowed returns d times factor without overflow. The last stretch is never
// slow: every window ends.
func slowed(d time.Duration, factor float64) time.Duration {
	if factor == 1 {
		return d
	}
	if ns := float64(float64(d) * factor); ns < float64(never) {
		return time.Duration(ns)
	}
	return never
}
