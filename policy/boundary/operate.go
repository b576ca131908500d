package boundary

import (
	"fmt"
	"time"

	"github.com/spillway-dev/spillway/policy/unit"
)

// OperatorMode is what an operator has switched a class to by hand.
type OperatorMode uint8

// The modes. Of a class that has cheaper rungs, Degrade takes the next one down
// that has room; a class without any refuses in both.
const (
	AsConfigured OperatorMode = iota
	Degrade
	RefuseAll
)

var operatorNames = [...]string{"off", "degrade", "refuse"}

// String returns the mode's name.
func (o OperatorMode) String() string { return operatorNames[o] }

// ParseOperatorMode returns the mode of that name.
func ParseOperatorMode(name string) (OperatorMode, error) {
	for i, n := range operatorNames {
		if n == name {
			return OperatorMode(i), nil
		}
	}
	return AsConfigured, fmt.Errorf("%q: write off, degrade or refuse", name)
}

// OperatorMax is the longest for which a class can be switched: who wants it for
// longer changes the configuration.
const OperatorMax = 24 * time.Hour

// Operation is a class switched by hand, until an instant at which it is as
// configured again by itself.
type Operation struct {
	Mode  OperatorMode
	Until unit.Instant
}

// on reports whether the operation is in force.
func (o Operation) on(now unit.Instant) bool { return now < o.Until && o.Mode != AsConfigured }

// byHand is the operation of a class and the calendar of those whom it turned
// away: they are told to come when it ends, one after the other.
type byHand struct {
	Operation
	calendar unit.Instant
}

// Operate switches a class by hand: what is offered until the operation's end is
// answered with reason operator, whatever the class's mode, and told to come back
// then or, if that is further away than the class's longest hint, later and later
// within that. What waits and runs goes on. The operation ends by itself, with
// AsConfigured, or with another; it survives a reconfiguration. One that ends
// later than OperatorMax from now ends then.
func (m *Machine) Operate(now unit.Instant, class int, o Operation, out *Effects) {
	m.Advance(now, out)
	m.changes++
	o.Until = min(o.Until, m.now.Add(OperatorMax))
	if !o.on(m.now) {
		o = Operation{}
	}
	m.classes[class].byHand = byHand{o, o.Until}
}

// String renders the operation on one line.
func (o Operation) String() string {
	if o.Mode == AsConfigured {
		return o.Mode.String()
	}
	return fmt.Sprintf("%v until %v", o.Mode, o.Until)
}
