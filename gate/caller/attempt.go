package caller

import (
	"crypto/rand"
	"time"

	"github.com/spillway-dev/spillway/policy/unit"
)

// Attempt is one sending of a call. It is of use while its call runs; later it knows
// of no key and no copies.
type Attempt struct {
	// Number counts the call's attempts from 1: Number-1 came before, of which one
	// may still be in flight.
	Number int
	// Hedge: another attempt is in flight beside it.
	Hedge bool

	caller *Caller
	call   *Call
	use    uint32
	limit  unit.Instant
}

// of fills in attempt n of a call: in its place, for it is read at once and a copy would
// have to wait for it.
func (a *Attempt) of(x *Call, n uint16, hedge bool, limit unit.Instant) {
	a.Number, a.Hedge, a.limit = int(n), hedge, limit
	a.caller, a.call, a.use = x.caller, x, x.use
}

// Limit returns when the attempt is to be answered, and whether there is a limit. It
// is what travels down as the deadline.
func (a Attempt) Limit() (time.Time, bool) {
	if a.caller == nil || a.limit == unit.Never {
		return time.Time{}, false
	}
	return a.caller.time(a.limit), true
}

// Left returns what is left until the limit, less than 0 once it has passed, and
// whether there is a limit.
func (a Attempt) Left() (time.Duration, bool) {
	if a.caller == nil || a.limit == unit.Never {
		return 0, false
	}
	return a.limit.Sub(a.caller.Now()), true
}

// Key returns the idempotency key of the call, the same for all its attempts: the
// request's, or one that is made here, 26 letters and digits that nobody can guess.
func (a Attempt) Key() string {
	if !a.enter() {
		return ""
	}
	defer a.leave()
	if a.call.key == "" {
		a.call.key = rand.Text()
	}
	return a.call.key
}

// copiesMax is how many copies of a dependency are told apart.
const copiesMax = 64

// Use notes that the attempt goes to the copy of the dependency with that index, from
// 0 to 63; others are not told apart.
func (a Attempt) Use(copy int) {
	if uint(copy) < copiesMax && a.enter() {
		defer a.leave()
		a.call.tried |= 1 << copy
	}
}

// Tried reports whether an attempt of the call has used that copy, so that this one
// can go elsewhere.
func (a Attempt) Tried(copy int) bool {
	if uint(copy) >= copiesMax || !a.enter() {
		return false
	}
	defer a.leave()
	return a.call.tried&(1<<copy) != 0
}

// Fix says that the call cannot be sent again from now on: what it sends has outgrown
// what is kept of it.
func (a Attempt) Fix() {
	if a.enter() {
		defer a.leave()
		a.call.state.Fix()
	}
}

// enter takes the caller's lock if the call is still the attempt's own.
func (a Attempt) enter() bool {
	if a.caller == nil {
		return false
	}
	a.caller.mu.Lock()
	if a.call.use != a.use {
		a.caller.mu.Unlock()
		return false
	}
	return true
}

func (a Attempt) leave() { a.caller.mu.Unlock() }
