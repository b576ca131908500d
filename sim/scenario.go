package sim

import (
	"errors"
	"fmt"
	"time"

	"github.com/spillway-dev/spillway/policy/boundary"
	"github.com/spillway-dev/spillway/policy/call"
	"github.com/spillway-dev/spillway/policy/unit"
	"github.com/spillway-dev/spillway/report"
	"github.com/spillway-dev/spillway/workload"
)

// Scenario is one run, whole. [Run] changes nothing in it but reads its
// sources to their ends, so that a second run needs fresh ones.
type Scenario struct {
	// Seed determines all chance of the model; sources and machines have seeds
	// of their own.
	Seed uint64
	// For is the length of the offered load: nothing arrives at or after it.
	// Zero means as long as the sources go on.
	For time.Duration
	// Until ends the run with whatever waits and runs then. Zero means that it
	// goes on until every caller has an answer.
	Until time.Duration
	// WarmUp is how long at the start requests are served and not counted.
	WarmUp time.Duration

	// Names are the tables in which the sources have numbered their names.
	Names     *workload.Names
	Resources []Resource
	Streams   []Stream
	// Unprotected leaves the boundary out: whatever is offered goes straight
	// to the upstream's line, and callers give up at their deadline.
	Unprotected bool
	// Overhead is what network and adapters add to the time of every answer,
	// holding no slot.
	Overhead time.Duration
	// Reserving is how long the store that keeps the budgets of quotas takes to answer
	// what it is asked, and told, of the n-th reservation, from 1; nil: no time.
	Reserving func(n uint64) time.Duration
	// Changes are applied at their instants, in order of time.
	Changes []Change

	// Record, if set, is shown every attempt when its caller has been answered.
	Record func(*Record)
	// Work, if set, is shown every stretch of an upstream's work when it has
	// ended; what is still being worked on when the run ends is shown then.
	Work func(*Work)
	// Sample, if set, is called every SampleEvery, starting there, up to For
	// (or to the end, if For is zero).
	Sample      func(at unit.Instant, machines []*boundary.Machine)
	SampleEvery time.Duration
	// Check verifies every machine's accounts after every event: slow.
	Check bool

	// Report sets how the report is collected; its For is set by Run.
	Report report.Options
	Meta   report.Meta
}

// Resource is a machine and the upstream that it protects.
type Resource struct {
	Boundary boundary.Config
	Upstream Upstream
	// Calls says how each class calls the upstream, in the order of
	// Boundary.Classes; those beyond its end call without a timeout.
	Calls []Call
	// Ladders are the cheaper answers of each class, in the order of
	// Boundary.Classes; those beyond its end have none.
	Ladders []Ladder
	// Tap, if set, is shown every event of the machine, as the live gate shows
	// its own.
	Tap func(boundary.Event)
}

// Call is how a class calls its upstream.
type Call struct {
	// Timeout ends a call that takes longer: its caller is answered. Zero or
	// less: what is left of the deadline.
	Timeout time.Duration
	// PassDeadline tells the upstream the deadline.
	PassDeadline bool
	// StartDeadline makes the deadline one for starting: once started, a
	// request is answered whenever its work ends.
	StartDeadline bool
	// Policy, if not nil, is how it calls: Timeout and StartDeadline are not looked
	// at. What is cut off holds no slot of the class any more, whether or not the
	// upstream stops.
	Policy *call.Policy
}

// Stream is a source of requests and the callers who make them.
type Stream struct {
	Source workload.Source
	// Class is whose these requests are, if they name none themselves; empty
	// means the first class of the first resource.
	Class   string
	Callers Callers
}

// Change is a new configuration for a resource at an instant, its draining, a class
// of it switched by hand, or what is told of pressure.
type Change struct {
	At       time.Duration
	Resource int
	Boundary boundary.Config
	// Operate, if set, is what a class is switched to; Boundary is not looked at.
	Operate *Operate
	// Press, if set, is what boundary.Machine.Press is told; Boundary is not looked at.
	Press *float64
	// Drain makes the machine refuse whatever is offered from then on;
	// Boundary is not looked at.
	Drain bool
}

// Validate returns every fault of the scenario, joined, or nil.
func (s *Scenario) Validate() error {
	var errs []error
	fault := func(format string, a ...any) { errs = append(errs, fmt.Errorf("scenario: "+format, a...)) }
	if s.For < 0 || s.Until < 0 || s.WarmUp < 0 || s.Overhead < 0 || s.SampleEvery < 0 {
		fault("for %v, until %v, warm-up %v, overhead %v, sample every %v: none may be negative",
			s.For, s.Until, s.WarmUp, s.Overhead, s.SampleEvery)
	}
	if s.For > 0 && s.WarmUp >= s.For {
		fault("a warm-up of %v leaves nothing of %v to count; it must be shorter", s.WarmUp, s.For)
	}
	if s.Sample != nil && s.SampleEvery <= 0 {
		fault("samples every %v; it must be positive, for example 1s", s.SampleEvery)
	}
	if s.Names == nil {
		fault("no names; pass the workload.Names that its sources were made with")
	}
	if len(s.Resources) == 0 {
		fault("no resources; give it at least one")
	}
	seen := map[string]string{}
	for i := range s.Resources {
		r := &s.Resources[i]
		if err := r.Boundary.Validate(); err != nil {
			errs = append(errs, fmt.Errorf("scenario: resource %q: %w", r.Boundary.Name, err))
		}
		if err := r.Upstream.weighed(); err != nil {
			fault("resource %q: %w", r.Boundary.Name, err)
		}
		if r.Upstream.Slots < 0 || r.Upstream.FailIn < 0 {
			fault("resource %q: upstream slots %d, fail in %v: neither may be negative", r.Boundary.Name, r.Upstream.Slots, r.Upstream.FailIn)
		}
		if err := r.Upstream.validate(); err != nil {
			fault("resource %q: upstream: %w", r.Boundary.Name, err)
		}
		for j := range r.Boundary.Classes {
			name := r.Boundary.Classes[j].Name
			if other, twice := seen[name]; twice {
				fault("class %q is of resource %q and of %q; class names must differ", name, other, r.Boundary.Name)
			}
			seen[name] = r.Boundary.Name
		}
	}
	asked := s.onlyAsked()
	for i := range s.Resources {
		r := &s.Resources[i]
		if len(r.Ladders) > len(r.Boundary.Classes) {
			fault("resource %q: %d ladders for %d classes", r.Boundary.Name, len(r.Ladders), len(r.Boundary.Classes))
			continue
		}
		for j := range r.Ladders {
			if err := r.Ladders[j].validate(r.Boundary.Name, seen); err != nil {
				fault("class %q: %w", r.Boundary.Classes[j].Name, err)
			}
		}
	}
	for i := range s.Streams {
		st := &s.Streams[i]
		if st.Source == nil {
			fault("stream %d has no source", i)
		}
		if asked[st.Class] {
			fault("stream %d is of class %q, which is a rung's: nothing else may be of it", i, st.Class)
		}
		if _, known := seen[st.Class]; st.Class != "" && !known {
			fault("stream %d is of class %q, which no resource has", i, st.Class)
		}
		if err := st.Callers.validate(); err != nil {
			errs = append(errs, fmt.Errorf("scenario: stream %d: %w", i, err))
		}
	}
	for i, c := range s.Changes {
		if c.Resource < 0 || c.Resource >= len(s.Resources) || c.At < 0 || i > 0 && c.At < s.Changes[i-1].At {
			fault("change %d, of resource %d at %v: resources are numbered from 0, instants never decrease", i, c.Resource, c.At)
			continue
		}
		if c.Drain || c.Press != nil {
			continue
		}
		if o := c.Operate; o != nil {
			if seen[o.Class] != s.Resources[c.Resource].Boundary.Name || o.For < 0 {
				fault("change %d: class %q of resource %q is switched for %v: it must be one of its classes, for no negative time", i, o.Class, s.Resources[c.Resource].Boundary.Name, o.For)
			}
			continue
		}
		if err := c.Boundary.Validate(); err != nil {
			errs = append(errs, fmt.Errorf("scenario: change %d: %w", i, err))
		}
		for j := range c.Boundary.Classes {
			if name := c.Boundary.Classes[j].Name; seen[name] != s.Resources[c.Resource].Boundary.Name {
				fault("change %d: class %q is not one of resource %q; a change adds no classes", i, name, s.Resources[c.Resource].Boundary.Name)
			}
		}
	}
	return errors.Join(errs...)
}
