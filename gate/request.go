package gate

import (
	"time"

	"github.com/spillway-dev/spillway/policy/boundary"
	"github.com/spillway-dev/spillway/policy/pool"
	"github.com/spillway-dev/spillway/policy/quota"
	"github.com/spillway-dev/spillway/policy/rate"
	"github.com/spillway-dev/spillway/policy/reason"
	"github.com/spillway-dev/spillway/policy/shed"
	"github.com/spillway-dev/spillway/policy/unit"
)

// The configuration of a gate is the machine's own.
type (
	// Config is one resource and the classes that use it. Strict is for tests
	// that are to stop at a broken invariant: it panics under the gate's lock,
	// after which the gate cannot be used.
	Config = boundary.Config
	// Class is a criticality class and the rules of its boundary.
	Class = boundary.Class
	// Pool is a class's slots and waiting room.
	Pool = pool.Config
	// Tenants says how tenants share a pool.
	Tenants = pool.TenantConfig
	// Shed says how a class sheds: who is refused for shed_for_load, before anybody
	// waits, as far as not all can be served.
	Shed = shed.Rule
	// Gap is how much worse a cheaper answer is than the work's own, in millionths.
	Gap = shed.Gap
)

// Request is what the caller knows of the work. The zero value is a request of
// the first class, from the one tenant there is, due at the context's deadline.
type Request struct {
	// Class is the index of the class; see Gate.Class.
	Class int
	// Tenant is whom fairness is between; of a longer name the first 256 bytes
	// count.
	Tenant string
	// Session is whose experience must not flicker, as a key; see SessionKey. 0
	// where sessions are not told apart.
	Session uint64
	// Stretch tells one part of the session, a sentence or a conversation, from the
	// next, as a key: in a class that sheds a session is moved where a new one
	// begins. 0: it has no parts.
	Stretch uint64
	// Gap is how much worse a cheaper answer is for this request, and Kept whether
	// the work's own result for it is kept from before; see Class.Shed.
	Gap  Gap
	Kept bool
	// Importance orders requests within the class, 0 the most important.
	Importance int
	// Retry is whether the caller has tried before.
	Retry bool
	// Client is who asks, as a salted hash that is not 0: client limits are kept
	// by it. 0 is not limited.
	Client rate.Key
	// Refuse has the request refused for that reason, so that it is on the
	// account; None: the class is asked.
	Refuse reason.Reason
	// Timeout is how long the caller will wait for its answer; 0: until the
	// context's deadline, or the class's default where it has none.
	Timeout time.Duration
	// Cost is what serving is estimated to take; 0 counts as 1.
	Cost int64
	// Ask is what the request needs of its class's quotas; nil: one request, and a
	// slot. It is not changed any more.
	Ask *quota.Ask
	// Bytes is what the request retains while it waits.
	Bytes int64
	// ID is what WithCases tells it by; "" where nobody asks.
	ID string
	// OnOverdue, if set, is called once if the deadline passes while the work
	// runs: the caller is to be answered now. The work keeps its slot until
	// the permit is finished. It runs on a goroutine that has other things to
	// do and must not block.
	OnOverdue func(Refusal)
	// At is the gate's time (see Gate.Now) where the caller has read the clock
	// already; 0: it is read.
	At unit.Instant
}
