package gateway

import (
	"fmt"
	"reflect"

	"github.com/spillway-dev/spillway/config"
	"github.com/spillway-dev/spillway/gate"
	"github.com/spillway-dev/spillway/policy/call"
)

// asks makes the pools in which other upstreams are asked for a class, by its rungs;
// nil for those in memory. One that is as it was is the one there was.
func (p *plan) asks(c config.Class, classes map[string]config.Class, policies map[string]call.Policy, before *generation) ([]*class, error) {
	all := make([]*class, len(c.Ladder))
	for i, rung := range c.Ladder {
		if rung.Upstream == "" {
			continue
		}
		name := config.AskedName(c.Name, rung.Upstream)
		r, cfg := p.find(rung.Upstream), classes[name]
		if r == nil {
			return nil, fmt.Errorf("class %s: there is no upstream %q", c.Name, rung.Upstream)
		}
		old := before.class(c.Name).askedAs(name)
		if old != nil && old.upstream == r.upstream && old.gate == r.gate && reflect.DeepEqual(old.cfg, cfg) {
			all[i] = old
			continue
		}
		k := newClass(cfg, r.upstream, r.gate, old)
		k.asked = true
		if err := k.govern(policies[name], r.service.HonoursKeys.On(), old); err != nil {
			return nil, fmt.Errorf("class %s: rung %s: %w", c.Name, rung.Upstream, err)
		}
		all[i] = k
	}
	return all, nil
}

// asks returns the pools in which other upstreams are asked for the class, by rung.
func (c *class) asks() []*class {
	if c == nil || c.ladder == nil {
		return nil
	}
	return c.ladder.asks
}

func (c *class) askedAs(name string) *class {
	for _, k := range c.asks() {
		if k != nil && k.name == name {
			return k
		}
	}
	return nil
}

// all returns the classes and the pools that their rungs ask in.
func (n *generation) all() (all []*class) {
	for _, c := range n.classes {
		all = append(all, c)
		for _, k := range c.asks() {
			if k != nil {
				all = append(all, k)
			}
		}
	}
	return all
}

// rules returns what the gate goes by for a class.
func (r *resource) rules(name string) gate.Class {
	for i := range r.machine.Classes {
		if c := &r.machine.Classes[i]; c.Name == name {
			return c.WithDefaults()
		}
	}
	return gate.Class{}
}
