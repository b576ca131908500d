package boundary

import (
	"time"

	"github.com/spillway-dev/spillway/policy/fair"
	"github.com/spillway-dev/spillway/policy/pool"
	"github.com/spillway-dev/spillway/policy/quota"
	"github.com/spillway-dev/spillway/policy/reason"
	"github.com/spillway-dev/spillway/policy/unit"
)

// What a player does with classes under quotas. Its store says what it likes,
// whatever the machine reckons: others use it too, and it has its own clock.

func (p *player) quotas(cl *Class) {
	if p.next(2) == 0 {
		return
	}
	q := quota.Quota{Name: []string{"openai", "other"}[p.next(2)]}
	bucket := func(u quota.Unit, most int64) quota.Ref {
		return quota.Ref{Name: u.String(), Limit: quota.Limit{Unit: u, Most: most, Refill: 1 + int64(p.next(4)), Every: time.Duration(1+p.next(8)) * 20 * time.Millisecond, Refund: p.next(2) == 1}}
	}
	if p.next(2) == 0 {
		q.All = append(q.All, bucket(quota.Requests, 1+int64(p.next(4))))
	}
	if p.next(2) == 0 {
		q.All = append(q.All, bucket(quota.Tokens, 100+int64(p.next(200))))
	}
	if p.next(2) == 0 {
		q.All = append(q.All, quota.Ref{Name: "concurrent", Limit: quota.Limit{Unit: quota.Concurrent, Most: 1 + int64(p.next(3))}})
	}
	if p.next(4) == 0 {
		q.All = append(q.All, quota.Ref{Name: "day", Limit: quota.Limit{Unit: quota.Requests, Most: 20, Window: quota.Window{Period: quota.Day}}})
	}
	if p.next(2) == 0 && cl.Pool.Tenants.Policy != fair.Fifo {
		q.Tenant = append(q.Tenant, bucket(quota.Requests, 1+int64(p.next(2))))
	}
	cl.Quotas = append(cl.Quotas, q)
}

func (p *player) reserved(at unit.Instant) {
	t := p.asked()
	asked := p.states[t] == pool.Reserving
	p.both(func(m *Machine, out *Effects) {
		if got := m.Reserved(at, t, out); got != asked {
			p.fail("reserved, of one that is asked for: %v: %v", asked, got)
		}
	})
}

func (p *player) notReserved(at unit.Instant) {
	t := p.asked()
	v := quota.Verdict{
		Reason: []reason.Reason{reason.QuotaRequests, reason.QuotaTokens, reason.QuotaConcurrency, reason.LedgerUnavailable, reason.TooLarge}[p.next(5)],
		Budget: p.next(8) - 1, After: time.Duration(p.next(256)) * time.Millisecond,
	}
	if v.Reason == reason.TooLarge {
		v.After = quota.Forever
	}
	if p.states[t] == pool.Reserving {
		p.states[t] = pool.Waiting // or it is refused, which is an effect
	}
	p.both(func(m *Machine, out *Effects) { m.NotReserved(at, t, v, out) })
}

// asked is one that is being reserved for, if there is one among a few.
func (p *player) asked() (t Ticket) {
	for range 6 {
		if t = p.ticket(); p.states[t] == pool.Reserving {
			break
		}
	}
	return t
}

func (p *player) settled(at unit.Instant) {
	s := Settlement{
		Class: p.next(p.machine.Classes()), Tenant: []string{"", "a", "b", "nobody"}[p.next(4)],
		Taken: quota.Amounts{quota.Requests: int64(p.next(2)), quota.Tokens: int64(p.next(200)), quota.Concurrent: int64(p.next(2))},
		Used:  quota.Amounts{quota.Requests: 1, quota.Tokens: int64(p.next(256))},
		At:    at - unit.Instant(p.next(256))<<20,
	}
	p.both(func(m *Machine, out *Effects) { m.Settled(at, &s, out) })
}
