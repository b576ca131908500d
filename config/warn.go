package config

import "net/netip"

// wise warns of what is allowed and probably not meant.
func (k *checker) wise() {
	full := k.cfg.WithDefaults()
	k.wiseAdmin()
	for _, u := range full.Upstreams {
		k.share(u, full.Classes)
		k.unwiseUpstream(u, full.Classes)
	}
	k.unwiseQuotas(full.Classes)
	everything := false
	for _, c := range full.Classes {
		k.unwise(c, join("classes", c.Name))
		everything = everything || c.Match.Expr == "" && Pattern{}.Covers(c.Match.Pattern()) && c.Match.Pattern().Covers(Pattern{})
	}
	if !everything {
		k.advise("classes", `add a last one with match: { path: "/*" }`, "does not cover every request: what no class matches is refused")
	}
}

func isLoopback(host string) bool {
	addr, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && addr.IsLoopback()
}

// share compares an upstream's slots with what its classes may use together.
func (k *checker) share(u Upstream, classes []Class) {
	sum, used, adapts := 0, false, false
	for _, c := range classes {
		if c.Upstream == u.Name {
			sum, used, adapts = sum+max(c.Slots.Fixed, c.Slots.Min), true, adapts || c.Slots.Adaptive()
		}
		for _, r := range c.Ladder {
			if r.Upstream == u.Name {
				sum, used = sum+r.Slots, true
			}
		}
	}
	at := join("upstreams", u.Name)
	switch {
	case !used:
		k.advise(at, "name it in a class, or remove it", "is used by no class")
	case u.Slots == 0 && adapts: // what it can do is found
	case u.Slots == 0:
		k.advise(at, "add slots: how many requests it can work on at once", "has no limit: nothing says what it can do, so nothing can be held against it")
	case sum > u.Slots:
		k.advise(join(at, "slots"), "lower the classes' slots, or raise it if it can do more", "is %d, but its classes have %d together", u.Slots, sum)
	}
}

func (k *checker) unwise(c Class, at string) {
	k.shareOfWhom(c, at)
	if c.Budget.Latency > c.MaxDeadline {
		k.advise(join(join(at, "budget"), "latency"), "make it shorter", "is %s, longer than any deadline (%s): the bound holds requests that expire in it", c.Budget.Latency, c.MaxDeadline)
	}
	k.unwiseCall(c, join(at, "call"))
	k.unwiseRungs(c, join(at, "ladder"))
	if c.WhenFull.Block > c.Deadline {
		k.advise(join(join(at, "when_full"), "block"), "make it shorter", "is %s, longer than the deadline %s", c.WhenFull.Block, c.Deadline)
	}
	if c.Abandoned.HoldAtMost < c.Call.Timeout {
		k.advise(join(join(at, "abandoned"), "hold_at_most"), "make it longer", "is %s, shorter than call.timeout %s: slots are given away while the work goes on", c.Abandoned.HoldAtMost, c.Call.Timeout)
	}
}
