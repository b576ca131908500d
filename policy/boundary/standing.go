package boundary

import (
	"math"
	"time"

	"github.com/spillway-dev/spillway/policy/pool"
	"github.com/spillway-dev/spillway/policy/reason"
	"github.com/spillway-dev/spillway/policy/tally"
	"github.com/spillway-dev/spillway/policy/unit"
)

// A refusal for a full room stands until something happens: whoever asks
// meanwhile, with enough time left and no more bytes than fit, is refused again
// without a decision. Under a lasting overload that is nearly everybody, and once
// the calendar is full too Offer turns the sole tenant away in a straight line.
//
// What may happen is counted by Machine.changes: every event but an offer, and
// every offer that was not refused at the door. What happens by itself is known
// beforehand. That time alone turns the order of the waiters around changes
// nothing: it makes the wait of an arrival shorter, and the room no less full.

// stands reports whether the latest refusal of a tenant holds for the request.
func (m *Machine) stands(now unit.Instant, s *pool.Standing, r *Request) bool {
	return s.After == m.changes && m.now <= now && now < s.Until && r.Bytes <= s.BytesMax &&
		(r.Deadline == 0 || r.Deadline > 0 && time.Duration(r.Deadline-now) >= s.Needs)
}

// plain reports whether nothing is to be asked before the room is: neither who the
// tenant is nor what the client may.
func (r *Request) plain() bool {
	return uint64(len(r.Tenant))|uint64(r.Client)|uint64(r.Refuse) == 0
}

// book enters into the accounts what was refused by rote: once for many, for at a
// few nanoseconds a refusal four counters are a fifth of it. Whoever looks at the
// accounts does it first.
func (c *class) book() {
	n, why := c.sole.Standing.Times, c.sole.Standing.Why
	c.sole.Standing.Times = 0
	for _, t := range [...]*tally.Tally{&c.tally, &c.sole.Tally} {
		t.Offered += n
		t.Answered[why] += n
	}
}

// stand notes that t is refused for the reason why because its room is full, as
// full says, if everybody else would be.
func (m *Machine) stand(now unit.Instant, c *class, t *pool.Tenant, full, why reason.Reason) {
	if full == reason.QueueBytes || full == reason.TenantFull && c.Config().RetriesLast || m.shadow != nil || c.law != nil || c.quota != nil {
		return // it depends on the request, or somebody counts them
	}
	needs := time.Duration(1) // the deadline must be ahead
	if c.judges() {
		least := c.Level(math.MaxInt, true) // whose wait is the longest
		needs = max(needs, c.PredictWait(t, least, now)+c.NeededToWait())
	}
	if c.Deadline < needs {
		return
	}
	c.book()
	calendar, step := m.calendar(c, t, why)
	t.Standing = pool.Standing{
		After: m.changes, Until: m.due.Next(), Needs: needs, BytesMax: c.BytesMax(), Why: why,
		Calendar: calendar, Ahead: c.RetryAfterMax - step, Half: c.RetryAfterMax / 2,
	}
}
