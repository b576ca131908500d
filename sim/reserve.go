package sim

import (
	"time"

	"github.com/spillway-dev/spillway/policy/boundary"
	"github.com/spillway-dev/spillway/policy/quota"
	"github.com/spillway-dev/spillway/policy/reason"
	"github.com/spillway-dev/spillway/policy/unit"
)

// store models what keeps the budgets: the arithmetic is the ledger's own, and an
// answer takes as long as Scenario.Reserving says.
type store struct {
	budgets map[string]*quota.Budget // found by name, never gone through
	open    []errandOfStore
	free    []int32
	asked   uint64
}

// errandOfStore is what the store has been asked or told and has not answered.
type errandOfStore struct {
	res    *resource
	number uint64          // of what was asked for, from 1
	ticket boundary.Ticket // to reserve for; 0: it was told of an end
	class  int
	refs   []quota.Ref
	s      boundary.Settlement
	taken  quota.Amounts
	never  bool // it was never sent
}

// storeTime is the store's: it has the clock of the run.
func storeTime(now unit.Instant) quota.Time { return quota.Time{Run: now, Wall: now} }

// send puts an errand on its way.
func (s *store) send(r *run, e errandOfStore) {
	var i int32
	if n := len(s.free); n > 0 {
		i, s.free = s.free[n-1], s.free[:n-1]
		s.open[i] = e
	} else {
		i = int32(len(s.open))
		s.open = append(s.open, e)
	}
	after := time.Duration(0)
	if r.Reserving != nil {
		after = r.Reserving(e.number)
	}
	r.heap.Push(r.now.Add(after), storeAnswers, i, 0)
}

// toReserve has the store asked for an attempt.
func (res *resource) toReserve(a *attempt, class int) {
	t := a.ticket
	a.place = reserving
	res.count(-1, +1)
	asked := res.machine.Asked(t)
	res.run.store.asked++
	e := errandOfStore{res: res, ticket: t, class: class, number: res.run.store.asked}
	for i := range asked.Quotas {
		e.refs = asked.Quotas[i].Append(e.refs, asked.Tenant, asked.Ask.Model)
	}
	e.s = boundary.Settlement{Class: class, Tenant: asked.Tenant, Taken: asked.Ask.Amounts, At: res.run.now}
	res.run.store.send(res.run, e)
}

// storeAnswered plays an answer of the store.
func (r *run) storeAnswered(i int32) {
	e := r.store.open[i]
	r.store.open[i] = errandOfStore{}
	r.store.free = append(r.store.free, i)
	if e.ticket == 0 {
		r.store.end(r.now, &e)
		e.res.settled(&e.s)
		return
	}
	e.res.reserve(&e)
}

// reserve decides, as the ledger would, and tells the machine.
func (res *resource) reserve(e *errandOfStore) {
	r, m := res.run, res.machine
	v := r.store.decide(r.now, e.refs, e.s.Taken)
	kind := boundary.Granted
	res.out.Reset()
	if !v.OK() {
		kind = boundary.Denied
		res.result.NotReserved++
		if a := r.attempts.at(res.byTicket[e.ticket.Index()]); a.ticket == e.ticket && a.place == reserving {
			res.count(+1, -1)
			a.place = waiting // or it is refused
		}
		m.NotReserved(r.now, e.ticket, v, &res.out)
	} else if m.Reserved(r.now, e.ticket, &res.out) {
		res.result.Reserved++
		r.attempts.at(res.byTicket[e.ticket.Index()]).reserved = &errandOfStore{res: res, number: e.number, class: e.class, refs: e.refs, s: e.s}
	} else {
		back := *e
		back.ticket, back.never, back.s.Taken = 0, true, quota.Amounts{}
		back.taken = e.s.Taken
		defer r.store.send(r, back)
	}
	res.show(boundary.Event{At: r.now, Kind: kind, Ticket: e.ticket})
	res.carryOut()
}

// decide takes what is asked for of the budgets, or nothing.
func (s *store) decide(now unit.Instant, refs []quota.Ref, ask quota.Amounts) quota.Verdict {
	list := s.load(now, refs)
	v := quota.Decide(storeTime(now), list, ask)
	if v.OK() {
		s.keep(refs, list)
	}
	return v
}

func (s *store) load(now unit.Instant, refs []quota.Ref) []quota.Budget {
	list := make([]quota.Budget, len(refs))
	for i, ref := range refs {
		b := s.budgets[ref.Name]
		if b == nil {
			fresh := quota.NewBudget(ref.Limit, storeTime(now))
			b = &fresh
			if s.budgets == nil {
				s.budgets = map[string]*quota.Budget{}
			}
			s.budgets[ref.Name] = b
		} else if b.Limit != ref.Limit {
			b.Relimit(storeTime(now), ref.Limit)
		}
		list[i] = *b
	}
	return list
}

func (s *store) keep(refs []quota.Ref, list []quota.Budget) {
	for i, ref := range refs {
		*s.budgets[ref.Name] = list[i]
	}
}

// end settles what is known of a call's end, or gives back what was never used.
func (s *store) end(now unit.Instant, e *errandOfStore) {
	list := s.load(now, e.refs)
	r := quota.Reservation{Taken: e.taken, At: storeTime(e.s.At)}
	if e.never {
		_ = r.Release(0, storeTime(now), list) // of one that is reserved it is no error
	} else {
		_ = r.Start(0)
		_ = r.Settle(0, storeTime(now), list, e.s.Used) // nor of one that is started
	}
	s.keep(e.refs, list)
}

// settle has the store told that an attempt's call has ended.
func (r *run) settle(a *attempt, why reason.Reason) {
	e := a.reserved
	if e == nil {
		return
	}
	a.reserved = nil
	e.s.Used, e.taken = e.s.Taken, e.s.Taken
	if e.never = why == reason.None; e.never {
		e.s.Taken = quota.Amounts{} // the machine knows
	}
	r.store.send(r, *e)
}

func (res *resource) settled(s *boundary.Settlement) {
	res.out.Reset()
	res.machine.Settled(res.run.now, s, &res.out)
	res.show(boundary.Event{At: res.run.now, Kind: boundary.Settled})
	res.carryOut()
}

// An upstream can be a provider that counts too: what it is sent beyond its own
// quotas it fails at once.

// provides reports whether the provider takes the call.
func (res *resource) provides(a *attempt) bool {
	p := &res.upstream
	if len(p.Quotas) == 0 {
		return true
	}
	now, ask := res.run.now, res.run.asks(a)
	var refs []quota.Ref
	for i := range p.Quotas {
		refs = p.Quotas[i].Append(refs, "", ask.Model)
	}
	if !p.provider.decide(now, refs, ask.Amounts).OK() {
		res.result.OverQuota++
		return false
	}
	a.provided = &errandOfStore{refs: refs, taken: ask.Amounts, s: boundary.Settlement{Taken: ask.Amounts, Used: ask.Amounts, At: now}}
	return true
}

// leaves ends an attempt's work at the upstream.
func (res *resource) leaves(a *attempt) {
	res.upstream.give(a)
	if a.provided != nil {
		res.upstream.provider.end(res.run.now, a.provided)
		a.provided = nil
	}
}

// asks is what an attempt needs of quotas: a request, a slot, and its cost in tokens.
func (r *run) asks(a *attempt) *quota.Ask {
	amounts := quota.One()
	amounts[quota.Tokens], amounts[quota.InputTokens] = max(a.cost, 1), max(a.cost, 1)
	return &quota.Ask{Amounts: amounts}
}
