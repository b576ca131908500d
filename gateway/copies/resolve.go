package copies

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"time"
)

// named reports whether any URL has to be looked up.
func (s *Set) named() bool {
	for _, u := range s.cfg.URLs {
		if t, err := targetOf(u); err == nil && t.named() {
			return true
		}
	}
	return false
}

// follow looks names up until the set is closed. It alone adds copies and has
// them drained once the set has started.
func (s *Set) follow() {
	tick := time.NewTicker(s.cfg.ResolveEvery)
	defer tick.Stop()
	failing := make([]bool, len(s.cfg.URLs))
	for {
		for i, u := range s.cfg.URLs {
			t, err := targetOf(u)
			if err != nil || !t.named() {
				continue
			}
			addresses, err := s.lookup(s.ctx, t.host)
			switch {
			case s.ctx.Err() != nil:
				return
			case err != nil:
				if !failing[i] {
					s.cfg.Logger.Warn("a name cannot be looked up; what was known last stays", "upstream", s.cfg.Name, "host", t.host, "err", err)
				}
			default:
				s.adopt(i, t, addresses)
			}
			failing[i] = err != nil
		}
		select {
		case <-tick.C:
		case <-s.ctx.Done():
			return
		}
	}
}

// lookup returns the addresses of a host in order of size, each once, at least
// one. Those of IPv6 come last: where both are there, IPv4 is what works.
func (s *Set) lookup(ctx context.Context, host string) ([]netip.Addr, error) {
	ctx, cancel := context.WithTimeout(ctx, lookupTime)
	defer cancel()
	found, err := s.cfg.Resolver.LookupNetIP(ctx, "ip", host)
	if err != nil {
		if d, ok := errors.AsType[*net.DNSError](err); ok && d.IsNotFound {
			return nil, fmt.Errorf("there is no host %s; check the name in the upstream's URL, or the resolver", host)
		}
		return nil, err
	}
	all := make([]netip.Addr, 0, len(found))
	for _, a := range found {
		if a.IsValid() {
			all = append(all, a.Unmap())
		}
	}
	slices.SortFunc(all, netip.Addr.Compare)
	all = slices.Compact(all)
	if len(all) == 0 {
		return nil, fmt.Errorf("host %s has no address", host)
	}
	return all[:min(len(all), addressesMax)], nil
}

// adopt makes the copies of a URL those of the addresses. What is there stays as
// it is; what is new starts slowly; what has vanished drains.
func (s *Set) adopt(url int, t target, addresses []netip.Addr) {
	s.mu.Lock()
	var m moved
	if s.cfg.All {
		m = s.adoptAll(url, t, addresses)
	} else {
		m = s.adoptOne(url, t, addresses)
	}
	s.unlock()
	for _, c := range m.drained {
		c.retire()
	}
	if m.full {
		s.cfg.Logger.Warn("a name has more addresses than there can be copies; the rest is not used", "upstream", s.cfg.Name, "host", t.host)
	}
	if !m.first && m.added+len(m.drained) > 0 {
		s.cfg.Logger.Info("the addresses of a name have changed", "upstream", s.cfg.Name, "host", t.host,
			"now", len(addresses), "new", m.added, "gone", len(m.drained))
	}
}

// moved is what a lookup changed.
type moved struct {
	drained []*Copy
	added   int
	first   bool // it was the first: nothing has changed
	full    bool // not all could be added
}

// of returns the copies of a URL that do not drain.
func (s *Set) of(url int) (all []*Copy) {
	for _, c := range s.copies {
		if c != nil && c.url == url && !c.drains {
			all = append(all, c)
		}
	}
	return all
}

// adoptAll makes each address a copy. The copy that stood for the name as a whole,
// from before it was looked up first, is replaced by them.
func (s *Set) adoptAll(url int, t target, addresses []netip.Addr) (m moved) {
	known := s.of(url)
	var kept []netip.Addr
	var gone []*Copy
	for _, c := range known {
		switch own := c.target.addresses; {
		case len(own) == 0:
			m.first = true
			gone = append(gone, c)
		case slices.Contains(addresses, own[0]):
			kept = append(kept, own[0])
		default:
			gone = append(gone, c)
		}
	}
	for _, a := range addresses { // before others go: there is always one
		if slices.Contains(kept, a) {
			continue
		}
		if s.add(url, t.at(a), !m.first) == nil {
			m.full = true
			break
		}
		m.added++
	}
	if len(kept)+m.added == 0 {
		return m // nothing could be added: rather those that were there than none
	}
	for _, c := range gone {
		s.drain(c)
	}
	m.drained = gone
	return m
}

// adoptOne makes all addresses one copy. When one of them has vanished, connections to
// it may be open that would be used for as long as there is traffic: another copy
// takes this one's place, and this one ends what it has.
func (s *Set) adoptOne(url int, t target, addresses []netip.Addr) (m moved) {
	known := s.of(url)
	if len(known) == 0 {
		return m
	}
	c := known[0]
	before := *c.addresses.Load()
	for _, a := range before {
		if slices.Contains(addresses, a) {
			continue
		}
		n := s.add(url, t, true)
		if n == nil {
			m.full = true
			break
		}
		n.addresses.Store(&addresses)
		s.drain(c)
		return moved{drained: []*Copy{c}, added: 1}
	}
	c.addresses.Store(&addresses)
	return m
}
