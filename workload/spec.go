package workload

import (
	"fmt"
	"time"

	"github.com/spillway-dev/spillway/workload/dice"
)

// Spec describes requests that are drawn from a seed. Each of its parts has
// dice of its own, so that changing one changes no other: with a third tenant
// the same requests arrive at the same instants and take as long.
type Spec struct {
	Seed   uint64
	Stream string // sets the specs of one run apart; two of one name are the same requests

	Rate     Rate
	Arrivals Arrivals      // default Poisson
	For      time.Duration // length of the offered load; 0 is the length of Rate, which may be for ever

	Classes    Mix           // default the empty name: whatever matches first
	Tenants    Mix           // default the empty name
	Importance Mix           // the index of the name drawn is the importance, so most important first; default 0
	Sessions   int           // each request is one of so many sessions'; 0 is no sessions
	Keys       Keys          // what is asked; default none is known
	Service    Service       // default FromTrace: no service time
	Deadline   time.Duration // what every caller allows; 0 names none
	Cost       int64         // of every request; 0 means 1
	Bytes      int64         // of every request's body
}

// Source returns the requests, with their names numbered in names. Two sources
// of equal specs give equal requests. Memory is constant, whatever the length.
func (s Spec) Source(names *Names) (Source, error) {
	switch {
	case s.For < 0:
		return nil, fmt.Errorf("an offered load of %v: must be more than 0s", s.For)
	case s.Deadline < 0:
		return nil, fmt.Errorf("a deadline of %v: must be more than 0s, or 0s for none", s.Deadline)
	case s.Cost < 0:
		return nil, fmt.Errorf("a cost of %d: must be 1 or more", s.Cost)
	case s.Bytes < 0:
		return nil, fmt.Errorf("a body of %d bytes: must be 0 or more", s.Bytes)
	case s.Sessions < 0:
		return nil, fmt.Errorf("%d sessions: must be 0 or more", s.Sessions)
	}
	s.Cost = max(1, s.Cost)
	roll := func(what string) *dice.Dice { return dice.New(s.Seed, s.Stream+"/"+what) }
	return &drawn{
		spec:       s,
		instants:   newInstants(s.Rate, s.Arrivals, s.For, roll("arrivals")),
		class:      ids(&names.Classes, s.Classes),
		tenant:     ids(&names.Tenants, s.Tenants),
		classes:    roll("class"),
		tenants:    roll("tenant"),
		importance: roll("importance"),
		service:    roll("service"),
		session:    roll("session"),
		keys:       roll("key"),
	}, nil
}

func ids(t *Table, m Mix) []Name {
	if len(m.shares) == 0 {
		return []Name{0}
	}
	all := make([]Name, len(m.shares))
	for i, s := range m.shares {
		all[i] = t.ID(s.Name)
	}
	return all
}

type drawn struct {
	spec          Spec
	instants      *instants
	class, tenant []Name // by index in the mix
	n             int64

	classes, tenants, importance, service, session, keys *dice.Dice
}

func (s *drawn) Next(a *Arrival) bool {
	at, more := s.instants.next()
	if !more {
		return false
	}
	*a = Arrival{
		N: s.n, At: at, Deadline: s.spec.Deadline, Cost: s.spec.Cost, Bytes: s.spec.Bytes,
		Service: s.spec.Service.Draw(s.service),
		Class:   s.class[0], Tenant: s.tenant[0],
	}
	if len(s.class) > 1 {
		a.Class = s.class[s.spec.Classes.Draw(s.classes)]
	}
	if len(s.tenant) > 1 {
		a.Tenant = s.tenant[s.spec.Tenants.Draw(s.tenants)]
	}
	if len(s.spec.Importance.shares) > 1 {
		a.Importance = int32(s.spec.Importance.Draw(s.importance))
	}
	if s.spec.Sessions > 0 {
		d := s.session.At(uint64(s.session.Intn(s.spec.Sessions)), 0)
		a.Session = d.Uint64() | 1
	}
	a.Key = s.spec.Keys.draw(s.keys)
	s.n++
	return true
}
