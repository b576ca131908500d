package plan

import (
	"fmt"
	"math"
	"time"
)

const (
	// AmplificationWarn is the number of calls above which the layers of retries
	// are warned of. One layer with the usual three or four attempts stays under
	// it; more means that several layers retry, and layers multiply. Retrying at
	// one layer only is the advice of the AWS Builders' Library ("Timeouts,
	// retries and backoff with jitter"). Raising it hides a second layer.
	AmplificationWarn = 4

	// A room is deep if its last place waits both this many service times (a
	// request then spends over nine tenths of its time waiting) and this long (a
	// person or a dashboard would notice).
	deepServices = 10
	deepWait     = time.Second

	notHeadroom = "a large bound is not headroom but a longer time of being saturated unnoticed"
)

func (m *maker) warnBound(c *class, in BoundInput, out *ClassPlan) {
	where := c.where()
	derived := in
	derived.Configured = 0
	wanted := in
	wanted.MemoryLimit = 0
	fits, _ := Bound(wanted)
	right, _ := Bound(derived)
	drain := float64(out.DrainS)

	switch {
	case out.BoundFrom == FromMemory && in.Holding <= 0 && in.Configured <= 0:
		// What it is cut from will be known once the service time is.
	case out.BoundFrom == FromMemory:
		need := float64(float64(fits) * float64(in.PerRequest))
		m.warn(c, where, fmt.Sprintf("memory cuts the room from %s to %s (%s / %s a request); raise memory.limit to %s or lower memory.per_request",
			count(int64(fits)), count(int64(out.Bound)), size(float64(in.MemoryLimit)), size(float64(in.PerRequest)), size(need)))
	case in.MemoryLimit > 0 && in.PerRequest > in.MemoryLimit && out.Bound > 0:
		m.warn(c, where, fmt.Sprintf("one request of %s is more than the memory limit of %s; raise memory.limit or lower memory.per_request",
			size(float64(in.PerRequest)), size(float64(in.MemoryLimit))))
	case out.BoundFrom == FromMinimum:
		m.warn(c, where, fmt.Sprintf("less than one request can be served in the allowed wait of %s, so the one that may wait is late; "+
			"raise budget.latency or slots", dur(in.AllowedWait)))
	case out.BoundFrom == FromMaximum:
		m.warn(c, where, "the room is cut to "+count(MaxBound)+", the most that any room holds; lower budget.latency")
	}
	if in.AllowedWait == 0 {
		m.warn(c, where, fmt.Sprintf("the budget leaves no time to wait (latency %s, service %s); raise budget.latency if requests may queue",
			dur(c.Budget.Latency), dur(max(c.Budget.Service, 0))))
	}
	if in.MemoryLimit <= 0 || in.PerRequest <= 0 {
		m.warn(c, where, "the room has no memory limit; give memory.limit and memory.per_request")
	}
	switch {
	case in.Configured > 0 && drain > in.AllowedWait.Seconds():
		m.warn(c, where, fmt.Sprintf("the configured bound keeps its last request waiting %s, the budget allows %s (%s); remove it and %s is derived",
			seconds(drain), dur(in.AllowedWait), notHeadroom, count(int64(right))))
	case drain >= deepWait.Seconds() && drain >= deepServices*c.holding.Seconds():
		m.warn(c, where, fmt.Sprintf("a very deep room: its last request waits %s for %s of service (%s); lower budget.latency to what callers bear",
			seconds(drain), dur(c.holding), notHeadroom))
	}
}

func (m *maker) warnNesting(c *class) {
	where := c.where()
	if c.MaxDeadline > 0 && c.Deadline > c.MaxDeadline {
		m.warn(c, where, fmt.Sprintf("deadline %s is above max_deadline %s and never holds; lower it or raise max_deadline", dur(c.Deadline), dur(c.MaxDeadline)))
	}
	if c.Deadline > 0 {
		m.warnDeadline(c, where)
	}
	// Outermost first: each layer must outlast the one below, the lowest caller this class.
	below, name := c.Deadline, "the deadline of this class"
	for i := len(c.Expect.CallersTimeouts) - 1; i >= 0; i-- {
		t := c.Expect.CallersTimeouts[i]
		if t > 0 && t < below {
			m.warn(c, where, fmt.Sprintf("caller %d from outside gives up after %s, before %s (%s) is over: work goes on for who has left; "+
				"let timeouts grow outwards", i+1, dur(t), name, dur(below)))
		}
		if t > 0 {
			below, name = t, fmt.Sprintf("the timeout of caller %d", i+1)
		}
	}
}

func (m *maker) warnDeadline(c *class, where string) {
	left := c.Deadline - max(0, c.Call.Reserve)
	longest := LongestCall(c.tries(), c.Call.Timeout, c.Call.Backoff)
	pauses := LongestCall(c.tries(), 0, c.Call.Backoff)
	switch {
	case c.Call.Timeout > c.Deadline:
		m.warn(c, where, fmt.Sprintf("call.timeout %s is longer than deadline %s and never acts; set it below the deadline", dur(c.Call.Timeout), dur(c.Deadline)))
	case c.Call.Retries > 0 && c.Call.Timeout > 0 && longest > left:
		between := ""
		if pauses > 0 {
			between = fmt.Sprintf(" and %s of pauses", dur(pauses))
		}
		fix := "lower the retries"
		if pauses < left {
			fix = fmt.Sprintf("lower call.timeout to %s or the retries", seconds((left-pauses).Seconds()/float64(c.tries())))
		}
		m.warn(c, where, fmt.Sprintf("%s attempts of up to %s%s do not fit into deadline %s, so the last may not start; %s",
			count(int64(c.tries())), dur(c.Call.Timeout), between, dur(left), fix))
	}
	if c.Budget.Latency > c.Deadline {
		m.warn(c, where, fmt.Sprintf("budget.latency %s is longer than deadline %s: the end of a full room expires unserved; lower it to the deadline",
			dur(c.Budget.Latency), dur(c.Deadline)))
	}
	if c.holding > c.Deadline {
		m.warn(c, where, fmt.Sprintf("the mean service time %s is longer than deadline %s: hardly a request is answered in time; raise the deadline",
			dur(c.holding), dur(c.Deadline)))
	}
	if c.Block > c.Deadline {
		m.warn(c, where, fmt.Sprintf("producers are blocked for up to %s, longer than deadline %s; shorten block", dur(c.Block), dur(c.Deadline)))
	}
}

func (m *maker) warnLimits(c *class) {
	where := c.where()
	if c.up == nil {
		m.warn(c, where, "calls "+orDefault(c.Upstream, "no upstream")+", of which nothing is known; define it under upstreams")
	} else if u := c.up; u.Slots > 0 && c.Slots.Min <= u.Slots && c.Borrow > u.Slots-max(0, c.Slots.Min) {
		m.warn(c, where, fmt.Sprintf("slots and borrow come to more than the %s slots of %s; lower borrow to %s",
			count(u.Slots), u.Name, count(u.Slots-max(0, c.Slots.Min))))
	}
	if c.Slots.Max <= 0 {
		m.warn(c, where, "has no guaranteed slots, so it may never run; give it at least 1")
	}
	for _, r := range c.Rungs {
		if r.Upstream == "" {
			continue
		}
		if u := m.upstream(r.Upstream); u == nil || u.Slots == 0 {
			m.warn(c, where, "rung "+orDefault(r.Name, r.Upstream)+" calls "+r.Upstream+
				", which has no limit: what the primary sheds can drown it; give upstreams."+r.Upstream+".slots")
		}
	}
	if bound, _ := Bound(c.boundInput()); len(c.Tenants.Named) > 1 && c.Tenants.Queue > int64(bound) {
		m.warn(c, where, fmt.Sprintf("tenant.queue %s is above the bound %s, so one tenant can fill the room; lower tenant.queue",
			count(c.Tenants.Queue), count(int64(bound))))
	}
}

func (m *maker) warnRetries(c *class, calls float64) {
	where := c.where()
	if c.Call.Retries > 0 && c.Call.RetryBudgetOff {
		m.warn(c, where, fmt.Sprintf("the retry budget is off: when the upstream fails, every request becomes %s calls; set call.retry_budget to 10 %%",
			count(int64(c.tries()))))
	}
	most := float64(AmplificationWarn)
	if c.Call.Hedge.on() { // each try of ours may count twice, which is no second layer
		most *= 2
	}
	if calls > most {
		m.warn(c, where, fmt.Sprintf("layers of retries multiply: one request can become %s calls (%s); retry at one layer only",
			num(calls), product(c.layers())))
	}
}

func (m *maker) warnUpstream(u *upstream, where string) {
	if u.Slots == 0 {
		m.warn(nil, where, "has no limit: nothing is known of what it can do at once; give its slots, or let a class find them (slots: { min, max })")
	}
	var guaranteed int64
	for _, c := range u.classes {
		n := max(0, c.Slots.Min)
		guaranteed += min(n, math.MaxInt64-guaranteed)
	}
	if u.Slots > 0 && guaranteed > u.Slots {
		m.warn(nil, where, fmt.Sprintf("its classes are guaranteed %s together, it has %s: the promise cannot be kept; lower class slots by %s",
			plural(guaranteed, "slot"), count(u.Slots), count(guaranteed-u.Slots)))
	}
}
