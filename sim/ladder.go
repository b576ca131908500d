package sim

import (
	"fmt"
	"time"

	"github.com/spillway-dev/spillway/policy/ladder"
	"github.com/spillway-dev/spillway/workload"
)

// Ladder is what a class answers below the primary, best first. The zero Ladder has
// nothing to give.
type Ladder struct {
	Order ladder.Ladder
	// Rungs are where its answers come from, in that order.
	Rungs []Rung
}

// Rung is where a cheaper answer comes from: one of its kinds, or, where none is
// said, a fixed answer, which is always there.
type Rung struct {
	// Earlier, if not nil: what the primary has answered to the same question before.
	Earlier *Earlier
	// Class is a class of a resource of the scenario that is asked instead, under a
	// deadline of what is left of the request's. Nothing else is of that class, and
	// the report has no account of it: a request is counted where it was offered.
	Class string
	// Service is how long the resource takes for one. Its zero value: as the resource
	// does for others.
	Service workload.Service
}

// Earlier is how earlier answers can be used.
type Earlier struct {
	// For is how old one may be, counted from when the call for it began.
	For time.Duration
	// BySession gives them only to the session that they were given to: its cookie is
	// part of the question. Tenants never share any.
	BySession bool
	// Share is of how many requests that name no key one is there, 0 to 1: by chance,
	// whatever was answered before.
	Share float64
}

// validate returns what is wrong with a class's ladder; known are the resources of
// all classes.
func (l *Ladder) validate(resource string, known map[string]string) error {
	if l.Order.Len() != len(l.Rungs) {
		return fmt.Errorf("an order of %d rungs for %d; say where each answer comes from", l.Order.Len(), len(l.Rungs))
	}
	for i, r := range l.Rungs {
		name := l.Order.Name(i)
		switch e := r.Earlier; {
		case e != nil && r.Class != "":
			return fmt.Errorf("rung %s is both earlier answers and class %q; make them rungs of their own", name, r.Class)
		case e != nil && (e.For <= 0 || !(e.Share >= 0 && e.Share <= 1)):
			return fmt.Errorf("rung %s: earlier answers up to %v old, for %v of the requests: more than 0s, and 0 to 1", name, e.For, e.Share)
		}
		switch of, is := known[r.Class]; {
		case r.Class == "":
		case !is:
			return fmt.Errorf("rung %s asks class %q, which no resource has", name, r.Class)
		case of == resource:
			return fmt.Errorf("rung %s asks class %q of the same resource, which then has no time for it either", name, r.Class)
		}
	}
	return nil
}
