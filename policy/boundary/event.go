package boundary

import (
	"fmt"
	"strings"

	"github.com/spillway-dev/spillway/policy/reason"
	"github.com/spillway-dev/spillway/policy/unit"
)

// EventKind is what a driver reported.
type EventKind uint8

// The events; see the package comment.
const (
	Offered EventKind = iota
	Left
	Began // Answered: the first byte is out
	Abandoned
	Ended // Done
	Advanced
	Drained
	Reconfigured
	Operated
	Lingered
	Granted // Reserved
	Denied  // NotReserved
	Settled // a reservation
	Pressed
)

var eventNames = [...]string{"offer", "leave", "answered", "abandon", "done", "advance", "drain", "reconfigure", "operate", "linger", "reserved", "not_reserved", "settled", "press"}

// String returns the event's name as scripts write it.
func (k EventKind) String() string { return eventNames[k] }

// Event is one event with everything that came of it, as a driver shows it to
// whoever watches: decision log, recording, a test that holds two drivers side
// by side. Effects are valid only until the watcher returns.
type Event struct {
	At      unit.Instant
	Kind    EventKind
	Class   int
	Tenant  string
	Ticket  Ticket // whom the event is about; 0 for the whole machine
	Verdict Verdict
	// Operation is what the class was switched to, if it was.
	Operation Operation
	// Pressure is what a Pressed tells.
	Pressure float64
	Effects  []Effect
}

// String renders the event on one line, the same for every driver.
func (e Event) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%v %v", e.At, e.Kind)
	if e.Kind == Offered {
		fmt.Fprintf(&b, " class=%d tenant=%q: %v", e.Class, e.Tenant, e.Verdict)
	} else if e.Kind == Operated {
		fmt.Fprintf(&b, " class=%d: %v", e.Class, e.Operation)
	} else if e.Kind == Pressed {
		fmt.Fprintf(&b, " %g", e.Pressure)
	} else if e.Ticket != 0 {
		fmt.Fprintf(&b, " %v", e.Ticket)
	}
	for _, f := range e.Effects {
		fmt.Fprintf(&b, "; %v", f)
	}
	return b.String()
}

// String renders the ticket as index and generation.
func (t Ticket) String() string { return fmt.Sprintf("#%d.%d", t.Index(), uint64(t)>>32) }

// String renders the verdict on one line.
func (v Verdict) String() string {
	switch v.Kind {
	case Refuse:
		return fmt.Sprintf("refuse %v, retry after %v", v.Reason, v.RetryAfter)
	default:
		if v.Reason != reason.None {
			return fmt.Sprintf("%v %v ungoverned, would be refused %v, retry after %v", v.Kind, v.Ticket, v.Reason, v.RetryAfter)
		}
		if v.Deadline == unit.Never {
			return fmt.Sprintf("%v %v ungoverned", v.Kind, v.Ticket)
		}
		return fmt.Sprintf("%v %v until %v", v.Kind, v.Ticket, v.Deadline)
	}
}

// String renders the effect on one line.
func (f Effect) String() string {
	switch f.Kind {
	case Run, Released, Entered, Reserve:
		return fmt.Sprintf("%v %v", f.Kind, f.Ticket)
	}
	return fmt.Sprintf("%v %v %v, retry after %v", f.Kind, f.Ticket, f.Reason, f.RetryAfter)
}
