package plan

import (
	"fmt"
	"math"
	"time"
)

// warnCall warns of calls whose parts contradict each other.
func (m *maker) warnCall(c *class) {
	where, call := c.where(), c.Call
	if call.Hedge.on() && call.Hedge.BudgetOff {
		m.warn(c, where, "the hedge budget is off: while everything is slow, every call is made twice; set call.hedge.budget to 10 %")
	}
	if limit := c.limit(); call.Hedge.After > 0 && limit > 0 && call.Hedge.After >= limit {
		m.warn(c, where, fmt.Sprintf("hedge.after %s is no shorter than the limit of a try, %s, and never acts; shorten it", dur(call.Hedge.After), dur(limit)))
	}
	if c.Posts && call.Retries > 0 && c.up != nil && !c.up.HonoursKeys {
		m.warn(c, where, "it retries POST or PATCH, and nothing says that "+c.Upstream+" knows a request again: one that may have run is not sent a second time; "+
			"set honours_keys if it does what comes under one Idempotency-Key once")
	}
	m.warnStops(c)
	if b := call.Breaker; b.Window > 0 {
		m.warnBreaker(c, b)
	}
}

// warnStops warns of an upstream that works on for who has left.
func (m *maker) warnStops(c *class) {
	u := c.up
	if u == nil {
		return
	}
	limit := c.limit()
	switch {
	case u.StopsAtDeadline && !c.Call.PassDeadline:
		m.warn(c, c.where(), u.Name+" would stop at a deadline and is not told it; set call.pass_deadline")
	case u.StopsAtDeadline:
	case u.StopsAfter > 0 && limit > 0 && u.StopsAfter > limit:
		m.warn(c, c.where(), fmt.Sprintf("a try ends after %s and %s gives up after %s: for %s it works for who has left; let timeouts grow outwards, or let it stop at the deadline",
			dur(limit), u.Name, dur(u.StopsAfter), dur(u.StopsAfter-limit)))
	}
}

func (m *maker) warnBreaker(c *class, b Breaker) {
	where, timeout := c.where(), c.Call.Timeout
	if b.Window < timeout {
		m.warn(c, where, fmt.Sprintf("breaker.window %s is shorter than call.timeout %s: calls of one moment are never judged together; make it several times the timeout",
			dur(b.Window), dur(timeout)))
	}
	if timeout > 0 && b.SlowAfter >= timeout {
		m.warn(c, where, fmt.Sprintf("breaker.slow_after %s is no shorter than call.timeout %s: none is ever slow; shorten it", dur(b.SlowAfter), dur(timeout)))
	}
	if b.ProbeTimeout > 0 && b.ProbeTimeout < timeout {
		m.warn(c, where, fmt.Sprintf("breaker.probe_timeout %s is shorter than call.timeout %s: a probe is given up that another call would wait for; make it as long",
			dur(b.ProbeTimeout), dur(timeout)))
	}
	seen := float64(c.Expect.Rate * b.Window.Seconds())
	if b.Shares && c.Expect.Rate > 0 && seen < float64(b.MinCalls) {
		m.warn(c, where, fmt.Sprintf("the breaker judges by shares from %s in %s on, and %s come at the expected rate: it never does; lengthen the window to %s or give consecutive",
			plural(int64(b.MinCalls), "call"), dur(b.Window), num(seen), dur(roundUp(float64(b.MinCalls)/c.Expect.Rate))))
	}
}

// roundUp is seconds as a duration of whole seconds, at least one.
func roundUp(s float64) time.Duration {
	return duration(float64(math.Ceil(s) * 1e9))
}
