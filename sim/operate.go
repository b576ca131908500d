package sim

import (
	"time"

	"github.com/spillway-dev/spillway/policy/boundary"
	"github.com/spillway-dev/spillway/policy/unit"
)

// Operate is a class switched by hand.
type Operate struct {
	Class string
	Mode  boundary.OperatorMode
	For   time.Duration // cut to boundary.OperatorMax
}

func (res *resource) press(now unit.Instant, level float64) {
	res.out.Reset()
	res.machine.Press(now, level, &res.out)
	res.show(boundary.Event{At: now, Kind: boundary.Pressed, Pressure: level})
	res.carryOut()
}

func (res *resource) operate(now unit.Instant, o *Operate) {
	class := res.run.byName[o.Class].index
	made := boundary.Operation{Mode: o.Mode, Until: now.Add(min(o.For, boundary.OperatorMax))}
	res.out.Reset()
	res.machine.Operate(now, class, made, &res.out)
	res.show(boundary.Event{At: now, Kind: boundary.Operated, Class: class, Operation: made})
	res.carryOut()
}
