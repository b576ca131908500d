package boundary

import (
	"time"

	"github.com/spillway-dev/spillway/policy/quota"
	"github.com/spillway-dev/spillway/policy/rate"
	"github.com/spillway-dev/spillway/policy/reason"
	"github.com/spillway-dev/spillway/policy/shed"
	"github.com/spillway-dev/spillway/policy/unit"
)

// Request is what is known of a piece of work when it is offered.
type Request struct {
	// Class is the index of the class, in the order of Config.Classes.
	Class int
	// Tenant is whom fairness is between; "" where tenants are not told apart.
	Tenant string
	// Session is whose experience must not flicker, as a key (see chance.Key);
	// 0 where sessions are not told apart.
	Session uint64
	// Stretch tells one part of the session, a sentence or a conversation, from
	// the next, as a key; 0 where it has none. See shed.Ask.
	Stretch uint64
	// Gap is how much worse a cheaper answer is for this request, and Kept whether
	// the primary's own answer to the same question is there still; both count in
	// classes that shed.
	Gap  shed.Gap
	Kept bool
	// Importance orders requests within the class, 0 the most important;
	// what is beyond the class's last level counts as the last.
	Importance int
	// Retry is whether the caller has tried before: it then is half a level
	// less important, where the class has retries come last.
	Retry bool
	// Client is who asks, as a salted hash: client limits are kept by it. 0 is
	// nobody, and is not limited.
	Client rate.Key
	// Refuse has the request refused for that reason, which its driver has found
	// before the class is asked: who asks may not. None: the class is asked.
	Refuse reason.Reason
	// Deadline is the instant by which the caller wants its answer. 0 means
	// that it named none; the class's default and cap apply.
	Deadline unit.Instant
	// Cost is what serving is estimated to take; 0 counts as 1.
	Cost unit.Cost
	// Ask is what it needs of the class's quotas, as far as can be told; nil: quota.One.
	// It is not changed while the request is here.
	Ask *quota.Ask
	// Bytes is what the request retains while it waits; 0 means that it is
	// not known, and counts as the class's PerRequest.
	Bytes int64
}

// Ticket names a request from its offer to the end of its work. The zero
// Ticket names none. A ticket is not used again before four billion others have
// had its index, so that an event that comes too late finds nobody instead of
// somebody else.
type Ticket uint64

// Index returns a small number that no other request in the machine has at the
// same time: an index for what a driver keeps of the request.
func (t Ticket) Index() int { return int(uint32(t)) }

// Kind is what a verdict or an effect says.
type Kind uint8

// The kinds of verdicts and effects.
const (
	// Refuse: the request is answered with Reason, now. It holds nothing.
	Refuse Kind = iota
	// Run: the request holds a slot and may start; the driver reports Done.
	Run
	// Wait: the request waits; an effect of a later event decides it.
	Wait
	// Overdue, an effect only: the deadline of a running request has passed.
	// Its caller is answered with Reason, now. The work goes on and holds its
	// slot until the driver reports Done.
	Overdue
	// Released, an effect only: abandoned work has held its slot for as long
	// as it may. The slot is free, the ticket is void; the work, if there is
	// still any, runs uncounted.
	Released
	// Entered, an effect only: a producer that was held before the full room is
	// held no longer, its request has a place and waits.
	Entered
	// Reserve: the request holds a slot and may start when the store has reserved
	// what it asks for. The driver asks it, and reports Reserved or NotReserved.
	Reserve
)

var kindNames = [...]string{"refuse", "run", "wait", "overdue", "released", "entered", "reserve"}

// String returns the kind's name.
func (k Kind) String() string { return kindNames[k] }

// Decision is a verdict in two words.
type Decision struct {
	Kind Kind
	// Reason is why, if refused. With Run: the request runs because its class's
	// decisions are not carried out, and would have been refused for it.
	Reason reason.Reason
}

// Verdict is what the boundary says to an offer. Its four fields travel in
// registers; a fifth would send it through memory at every return, which costs
// more than deciding does.
type Verdict struct {
	Decision
	Ticket Ticket // unless refused
	// Deadline is the instant that governs the request, after default, cap and
	// reserve; Never if nothing does because its decision is not carried out.
	Deadline unit.Instant
	// RetryAfter is when to come back, if refused: the instant that the
	// calendar has promised to this refusal and to no other.
	RetryAfter time.Duration
}

// Effect is something that an event brings about for another request than the
// one it is about. The driver carries effects out in order; each is a fact
// already, so that a driver that can't (the caller has just left) reports
// that as the next event instead.
type Effect struct {
	Kind       Kind
	Reason     reason.Reason
	Ticket     Ticket
	Class      int
	RetryAfter time.Duration
}

// Effects collects what an event brings about. The driver empties it before
// each event and keeps its memory.
type Effects struct {
	List []Effect
	// Cases explains, if Watched, who is answered without having been served.
	Cases   []Case
	Watched bool
}

// Reset empties the collection.
func (e *Effects) Reset() { e.List, e.Cases = e.List[:0], e.Cases[:0] }

func (e *Effects) add(f Effect) { e.List = append(e.List, f) }

// Outcome is how a call that held a slot ended.
type Outcome struct {
	// Reason is Served for an answer; Failed, Timeout or another reason for
	// its absence; None if the call was never made (the grant is given back).
	Reason reason.Reason
	// Cost is what serving took in truth; 0 if the estimate stands.
	Cost unit.Cost
}
