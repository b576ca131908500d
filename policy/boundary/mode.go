package boundary

import (
	"time"

	"github.com/spillway-dev/spillway/policy/chance"
)

// Mode is which decisions of a class are carried out. The zero value carries
// out all.
//
// What is not carried out is decided all the same, unless the class is off: the
// request runs at once, and the machine goes on with it as if it had been
// obeyed, see shadow.go. Only draining, a class that is no longer
// configured, and what an operator switches by hand are carried out in every mode:
// they end the service, they do not ration it.
type Mode struct {
	Kind ModeKind
	// Share, with Part, is how many of a million sessions are decided in
	// earnest. Sessions are told apart by Request.Session, where there is none by
	// tenant, and where there is no tenant each request is one. Who is in a share
	// is in every larger one.
	Share int
}

// ModeKind is one of the ways in which a class can be run.
type ModeKind uint8

// The modes.
const (
	Enforce ModeKind = iota
	Part             // enforce for a share of sessions, shadow for the others
	Shadow           // decide and count, carry nothing out
	Off              // let everything run, decide nothing
)

var modeNames = [...]string{"enforce", "percent", "shadow", "off"}

// String returns the mode's name; that of Part is percent.
func (k ModeKind) String() string { return modeNames[k] }

// Enforced returns how many of a million sessions are decided in earnest.
func (m Mode) Enforced() int {
	switch m.Kind {
	case Enforce:
		return chance.Whole
	case Part:
		return m.Share
	}
	return 0
}

// Call is how a class's driver calls what the machine protects, as far as the
// machine has to know it to go on with a request whose caller was not answered
// when it decided so. A driver carries out both by itself for all others.
type Call struct {
	// Timeout is how long a call may take until its answer begins, from when the
	// request was given its slot. Zero or less: what is left of the deadline.
	Timeout time.Duration
	// Cancel has the work end with its caller's answer: its slot is free then.
	Cancel bool
}

// saltMode keeps who is decided in earnest apart from every other share.
const saltMode chance.Salt = 0x73_68_61_64_6f_77 // "shadow"

// decides reports whether a request's decision is carried out.
func (c *class) decides(seed uint64, r *Request) bool {
	switch c.Mode.Kind {
	case Enforce:
		return true
	case Part:
		key := r.Session
		switch {
		case key != 0:
		case r.Tenant != "":
			key = chance.Key(r.Tenant)
		default:
			key = uint64(c.tally.Offered) + 1 // each by itself
		}
		return chance.Place(saltMode^chance.Salt(seed), key) < c.Mode.Share
	}
	return false
}
