package verify

import (
	"cmp"
	"math"
	"slices"
)

// What becomes of the classes of a pool, in the order that counts at one instant.
const (
	gives = iota
	comes
	goes
	begins
	isRefused
)

type move struct {
	at          int64
	kind, class int
}

// idle fills in how long slots were idle that a class might not use which refused or
// let wait for want of one: of each class, and of all, each slot counted once.
func (f figures) idle(s poolSettings, attempts []*attempt) {
	known := !s.Naive && len(s.Stages) == 0
	sums, all := make([]float64, len(s.Classes)), 0.0
	if known {
		all = idleSums(s, attempts, sums)
	}
	for _, a := range attempts { // a tenant has no slots
		f["tenants."+a.tenant+".idle_while_refusing_s"] = math.NaN()
		f["classes."+a.class+".idle_while_refusing_s"] = math.NaN()
	}
	for i, c := range s.Classes {
		f["classes."+c.Name+".idle_while_refusing_s"] = seconds(sums[i], known)
	}
	f["idle_while_refusing_s"] = seconds(all, known)
}

func seconds(ns float64, known bool) float64 {
	if !known {
		return math.NaN()
	}
	return ns / 1e9
}

// idleSums walks through the run, up to the end of the offered load.
func idleSums(s poolSettings, attempts []*attempt, sums []float64) (all float64) {
	type state struct {
		used, waiting int
		refused       bool
	}
	classes, slots, used := make([]state, len(s.Classes)), 0, 0
	for _, c := range s.Classes {
		slots += c.Slots
	}
	last, end := int64(0), int64(s.Seconds*1e9)
	for _, m := range moves(s, attempts) {
		at, idle, any := min(m.at, end), float64(max(slots-used, 0)), false
		for i, c := range classes {
			if c.used >= s.Classes[i].Slots+s.Classes[i].Borrow && (c.refused || c.waiting > 0) {
				sums[i] += idle * float64(at-last)
				any = true
			}
		}
		if any {
			all += idle * float64(at-last)
		}
		last = at
		c := &classes[m.class]
		switch m.kind {
		case gives:
			c.used--
			used--
		case comes:
			c.waiting++
		case goes:
			c.waiting--
		case begins:
			c.used++
			used++
			c.refused = false
		case isRefused:
			c.refused = true
		}
	}
	return all
}

// moves are all that happened, and the end of the offered load.
func moves(s poolSettings, attempts []*attempt) []move {
	all := []move{{at: int64(s.Seconds * 1e9), kind: isRefused + 1}}
	for _, a := range attempts {
		class := slices.IndexFunc(s.Classes, func(c poolClass) bool { return c.Name == a.class })
		add := func(at int64, kind int) { all = append(all, move{at, kind, class}) }
		switch {
		case a.started:
			if a.row.started > a.arrived {
				add(a.arrived, comes)
				add(a.row.started, goes)
			}
			add(a.row.started, begins)
			if a.begun >= 0 { // else it still waits in the upstream's own line at the end
				add(max(a.done, a.row.started), gives)
			}
		case a.admitted:
			add(a.arrived, comes)
			add(a.ended, goes)
		case !slices.Contains(notForWantOfASlot, a.reason):
			add(a.arrived, isRefused)
		}
	}
	slices.SortStableFunc(all, func(a, b move) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.kind, b.kind)) })
	return all
}

// notForWantOfASlot are reasons of refusals that no slot would have changed.
var notForWantOfASlot = []string{"rate_limited", "draining", "operator", "expired"}
