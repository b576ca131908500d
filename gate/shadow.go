package gate

import (
	"github.com/spillway-dev/spillway/policy/boundary"
	"github.com/spillway-dev/spillway/policy/chance"
	"github.com/spillway-dev/spillway/policy/unit"
)

// Mode is which decisions of a class are carried out.
//
//	gate.Mode{}                            all of them
//	gate.Mode{Kind: gate.Shadow}           none, they are counted
//	gate.Mode{Kind: gate.Part, Share: 100_000}   for 10 % of sessions
//	gate.Mode{Kind: gate.Off}              nothing is decided
type Mode = boundary.Mode

// The kinds of modes.
const (
	Enforce = boundary.Enforce
	Part    = boundary.Part
	Shadow  = boundary.Shadow
	Off     = boundary.Off
)

// SessionKey returns a session's name as a key, never 0. It takes about a
// nanosecond a byte.
func SessionKey(name string) uint64 { return chance.Key(name) }

// Governed reports whether the work has to keep to what was decided: false for
// that of a class that is off or in shadow, or in force for other sessions. It
// has no deadline but its context's own: Permit.Deadline is centuries away.
func (p Permit) Governed() bool { return p.gate != nil && p.deadline != unit.Never }

// Would returns what was decided of work that is not Governed when it was
// offered, for as long as its permit is not finished: that it run, wait, or be
// refused for a reason. It reports false for work that is governed, and for that
// of a class that is off. What became of it later, in a waiting room that it
// never saw, is in the class's ClassState.Shadow.
func (p Permit) Would() (boundary.Verdict, bool) {
	if p.gate == nil || p.deadline != unit.Never {
		return boundary.Verdict{}, false
	}
	p.gate.mu.Lock()
	defer p.gate.mu.Unlock()
	return p.gate.machine.Would(p.ticket)
}
