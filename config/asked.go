package config

import (
	"cmp"
	"strconv"
	"time"
)

// AskedName is the name of the pool in which an upstream is asked by a rung of a
// class: no class of a file can have it.
func AskedName(class, upstream string) string { return class + "/" + upstream }

// Asked returns the pools in which an upstream is asked by rungs, each as a class
// that nothing else is of, in the order of the file. c has its defaults filled in.
// Tenants, importance and bodies are those of the class whose rung it is.
func (c *Config) Asked(u Upstream) (all []Class) {
	for _, k := range c.Classes {
		for _, r := range k.Ladder {
			if r.Upstream != u.Name {
				continue
			}
			a := Class{
				Name: AskedName(k.Name, u.Name), Upstream: u.Name,
				Deadline: k.Deadline, MaxDeadline: k.MaxDeadline,
				Memory: k.Memory, Abandoned: k.Abandoned, Streams: k.Streams,
				Importance: k.Importance, Tenant: k.Tenant, Session: k.Session,
				Order: k.Order, Call: r.Call,
			}
			a.Slots.Fixed, a.Borrow = c.asks(&r, u)
			a.Budget.Service = r.Takes(u)
			a.Budget.Latency = a.Budget.Service + r.Wait
			a.fill()
			all = append(all, a)
		}
	}
	return all
}

// Takes is how long an upstream is taken to work for a rung's request.
func (r *Rung) Takes(u Upstream) Duration {
	return cmp.Or(r.Service, Duration(u.Service.Mean()), Duration(time.Millisecond))
}

// asks returns what a rung may take of an upstream: its slots, and how many more of
// idle ones.
func (c *Config) asks(r *Rung, u Upstream) (slots, borrow int) {
	if r.Slots != 0 || u.Slots == 0 {
		return cmp.Or(r.Slots, defaultSlots), 0
	}
	left, sharing := u.Slots, 0
	for _, k := range c.Classes {
		if k.Upstream == u.Name {
			left -= max(k.Slots.Fixed, k.Slots.Min)
		}
		for _, other := range k.Ladder {
			switch {
			case other.Upstream != u.Name:
			case other.Slots != 0:
				left -= other.Slots
			default:
				sharing++
			}
		}
	}
	slots = max(left/max(sharing, 1), 1)
	return slots, max(u.Slots-slots, 0)
}

// unwiseRungs warns of rungs that could never answer when they are needed.
func (k *checker) unwiseRungs(c Class, at string) {
	for i, r := range c.Ladder {
		if r.Upstream == "" {
			continue
		}
		at := join(at, strconv.Itoa(i))
		for _, u := range k.cfg.Upstreams {
			takes := r.Takes(u)
			if limit := c.Call.Timeout; u.Name == r.Upstream && (limit == 0 || limit+takes+c.Call.Reserve > c.Deadline) {
				k.advise(join(at, "upstream"), "give the class a call.timeout that leaves that of its deadline",
					"takes %s, which is not left of the deadline %s once the class's own upstream has taken too long: it is asked for what is refused or fails sooner", takes, c.Deadline)
			}
		}
		k.unwiseCall(Class{Name: c.Name, Upstream: r.Upstream, Deadline: c.Deadline, Match: c.Match, Call: r.Call}, join(at, "call"))
	}
}
