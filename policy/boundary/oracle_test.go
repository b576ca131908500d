package boundary

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/spillway-dev/spillway/policy/chance"
	"github.com/spillway-dev/spillway/policy/fair"
	"github.com/spillway-dev/spillway/policy/pool"
	"github.com/spillway-dev/spillway/policy/reason"
	"github.com/spillway-dev/spillway/policy/unit"
	"pgregory.net/rapid"
)

// naive is one class written a second time, without a thought for speed: one
// slice of who is here, searched and sorted for every question. It knows fifo
// and round robin, bounds in number, bytes and by tenant, every rule for a full
// room but block, importance, deadlines and abandoned work.
type naive struct {
	slots, bound, queue int
	bytesMax            int64
	rule                pool.WhenFull
	lifo, fair          bool
	hold                time.Duration

	here []*naiveRequest // in order of arrival
	turn []string        // tenants that wait, whose turn is first
	over bool            // that turn is used up: it ends when the next is asked for
	log  []string        // effects, as the machine would have them
}

type naiveRequest struct {
	ticket     Ticket
	tenant     string
	importance int
	bytes      int64
	deadline   unit.Instant
	state      pool.State
	due        unit.Instant
}

func (n *naive) count(match func(*naiveRequest) bool) (c int) {
	for _, r := range n.here {
		if match(r) {
			c++
		}
	}
	return c
}

func (n *naive) waiting(tenant string) int {
	return n.count(func(r *naiveRequest) bool {
		return r.state == pool.Waiting && (tenant == "*" || r.tenant == tenant)
	})
}

func (n *naive) used() int {
	return n.count(func(r *naiveRequest) bool { return r.state == pool.Running || r.state == pool.Abandoned })
}

func (n *naive) bytes() (sum int64) {
	for _, r := range n.here {
		if r.state == pool.Waiting {
			sum += r.bytes
		}
	}
	return sum
}

func (n *naive) remove(r *naiveRequest) {
	was := r.state
	n.here = slices.DeleteFunc(n.here, func(q *naiveRequest) bool { return q == r })
	if was == pool.Waiting {
		n.left(r.tenant)
	}
}

// left takes a tenant that has nothing waiting any more out of the round.
func (n *naive) left(tenant string) {
	if n.waiting(tenant) == 0 {
		n.over = n.over && n.turn[0] != tenant
		n.turn = slices.DeleteFunc(n.turn, func(t string) bool { return t == tenant })
	}
}

// best returns the waiter that comes first by the given order, or nil.
func (n *naive) best(match func(*naiveRequest) bool, before func(a, b *naiveRequest) bool) (best *naiveRequest) {
	for _, r := range n.here {
		if r.state == pool.Waiting && match(r) && (best == nil || before(r, best)) {
			best = r
		}
	}
	return best
}

func (n *naive) next() *naiveRequest {
	return n.best(
		func(r *naiveRequest) bool { return !n.fair || r.tenant == n.turn[0] },
		func(a, b *naiveRequest) bool {
			return a.importance < b.importance || a.importance == b.importance && n.lifo // later in the slice is later
		})
}

func (n *naive) dispatch() {
	for n.used() < n.slots && n.waiting("*") > 0 {
		if n.over {
			n.turn = append(n.turn[1:], n.turn[0])
		}
		r := n.next()
		n.over = n.fair
		r.state, r.due = pool.Running, r.deadline
		n.left(r.tenant)
		n.log = append(n.log, fmt.Sprint(r.ticket, " run"))
	}
}

// advance lets happen what is due, in order; of several at the same instant any
// may be first, so that the log of an instant is compared sorted.
func (n *naive) advance(now unit.Instant) {
	for {
		var first *naiveRequest
		for _, r := range n.here {
			if r.due <= now && (first == nil || r.due < first.due) {
				first = r
			}
		}
		if first == nil {
			return
		}
		switch first.state {
		case pool.Waiting:
			n.log = append(n.log, fmt.Sprint(first.ticket, " expired"))
			n.remove(first)
		case pool.Running:
			n.log = append(n.log, fmt.Sprint(first.ticket, " timeout"))
			first.state, first.due = pool.Abandoned, first.due.Add(n.hold)
		case pool.Abandoned:
			n.log = append(n.log, fmt.Sprint(first.ticket, " released"))
			n.remove(first)
		}
		n.dispatch()
	}
}

func (n *naive) full(r *naiveRequest) reason.Reason {
	switch {
	case n.queue > 0 && n.waiting(r.tenant) >= n.queue:
		return reason.TenantFull
	case n.waiting("*") >= n.bound:
		return reason.QueueFull
	case n.bytesMax > 0 && n.bytes()+r.bytes > n.bytesMax:
		return reason.QueueBytes
	}
	return reason.None
}

// offer returns the reason of a refusal, or None and the new request.
func (n *naive) offer(now unit.Instant, r *naiveRequest) reason.Reason {
	if r.deadline <= now {
		return reason.Expired
	}
	if n.used() < n.slots {
		r.state, r.due = pool.Running, r.deadline
		n.here = append(n.here, r)
		return reason.None
	}
	if n.bytesMax > 0 && r.bytes > n.bytesMax {
		return reason.QueueBytes
	}
	before, turn, over, log := slices.Clone(n.here), slices.Clone(n.turn), n.over, len(n.log)
	first := n.full(r)
	for why := first; why != reason.None; why = n.full(r) {
		victim := n.victim(r, why)
		if victim == nil { // nobody is evicted in vain: undo
			n.here, n.turn, n.over, n.log = before, turn, over, n.log[:log]
			if n.rule == pool.Drop {
				return reason.Dropped
			}
			return first
		}
		n.log = append(n.log, fmt.Sprint(victim.ticket, " evicted"))
		n.remove(victim)
	}
	r.state, r.due = pool.Waiting, r.deadline
	n.here = append(n.here, r)
	if !slices.Contains(n.turn, r.tenant) {
		n.turn = append(n.turn, r.tenant)
	}
	return reason.None
}

func (n *naive) victim(r *naiveRequest, why reason.Reason) *naiveRequest {
	own := func(q *naiveRequest) bool { return q.tenant == r.tenant }
	oldest := func(a, b *naiveRequest) bool { return false }
	switch n.rule {
	case pool.DropOldest:
		if v := n.best(own, oldest); v != nil {
			return v
		}
		return n.best(func(*naiveRequest) bool { return true }, oldest)
	case pool.Displace:
		return n.best(
			func(q *naiveRequest) bool {
				return q.importance > r.importance && (why != reason.TenantFull || own(q))
			},
			func(a, b *naiveRequest) bool { return a.importance >= b.importance })
	}
	return nil
}

// The machine and the naive one agree on every verdict and every effect.
func TestAgreesWithTheNaiveMachine(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := &naive{
			slots:    rapid.IntRange(1, 3).Draw(t, "slots"),
			bound:    rapid.IntRange(1, 5).Draw(t, "bound"),
			queue:    rapid.IntRange(1, 4).Draw(t, "queue"),
			bytesMax: rapid.SampledFrom([]int64{0, 40}).Draw(t, "bytesMax"),
			rule:     rapid.SampledFrom([]pool.WhenFull{pool.Reject, pool.Drop, pool.DropOldest, pool.Displace}).Draw(t, "rule"),
			lifo:     rapid.Bool().Draw(t, "lifo"),
			fair:     rapid.Bool().Draw(t, "fair"),
			hold:     40 * ms,
		}
		cfg := pool.Config{Slots: n.slots, Bound: n.bound, MemoryLimit: n.bytesMax, WhenFull: n.rule, Order: pool.FIFO, Levels: 3,
			MaxAge: time.Hour, Tenants: pool.TenantConfig{Queue: n.queue}}
		if n.lifo {
			cfg.Order = pool.LIFO
		}
		if n.fair {
			cfg.Tenants.Policy = fair.RR
		}
		m := must(New(Config{Strict: true, Classes: []Class{{
			Name: "app", Pool: cfg, AdmitHopeless: true, HoldAtMost: n.hold,
		}}}))
		var out Effects
		now := unit.Instant(1)
		agree := func(t *rapid.T) {
			var got []string
			for _, e := range out.List {
				what := e.Kind.String()
				if e.Reason != reason.None {
					what = e.Reason.String()
				}
				got = append(got, fmt.Sprint(e.Ticket, " ", what))
			}
			if !slices.Equal(got, n.log) {
				t.Fatalf("at %v: effects %v, want %v", now, got, n.log)
			}
			out.Reset()
			n.log = n.log[:0]
			if err := m.Check(); err != nil {
				t.Fatal(err)
			}
		}
		// Every instant happens once and every deadline is its own, so that
		// nothing is left to the order of equals.
		steps, own := rapid.IntRange(1, 300).Draw(t, "steps"), unit.Instant(0)
		dice := chance.New(rapid.Uint64().Draw(t, "seed"))
		pick := func(n int) int { return int(dice.Below(int64(n))) }
		for range steps {
			now = now.Add(time.Duration(1+pick(6))*ms + 1)
			n.advance(now)
			event := pick(8)
			if event < 5 || len(n.here) == 0 {
				own += 1 << 10
				r := &naiveRequest{
					tenant:     []string{"a", "b", "c"}[pick(3)],
					importance: pick(3),
					bytes:      int64(pick(46)),
					deadline:   now.Add(time.Duration(pick(150)-5)*ms) + own%(1<<19),
				}
				v := m.Offer(now, &Request{Tenant: r.tenant, Importance: r.importance, Bytes: r.bytes, Deadline: r.deadline}, &out)
				r.ticket = v.Ticket
				why := n.offer(now, r)
				if v.Reason != why || v.Kind == Run && r.state != pool.Running || v.Kind == Wait && r.state != pool.Waiting {
					t.Fatalf("%v, want %v %v", v, r.state, why)
				}
				agree(t)
				continue
			}
			r := n.here[pick(len(n.here))]
			switch {
			case event == 5:
				n.remove(r)
				n.dispatch()
				m.Leave(now, r.ticket, &out)
			case r.state == pool.Waiting:
				m.Advance(now, &out)
			default:
				n.remove(r)
				n.dispatch()
				m.Done(now, r.ticket, Outcome{Reason: reason.Served}, &out)
			}
			agree(t)
		}
	})
}
