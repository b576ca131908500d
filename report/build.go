package report

import "math"

// About is what a collector cannot know of its run.
type About struct {
	Mode string // virtual or live
	Seed uint64
	// Seconds is the length of the offered load: what rates are per second of.
	// Where it is 0, Options.For is taken.
	Seconds  float64
	Warnings []string
	Meta
}

// Report makes the report of everything counted so far. The collector can go on
// counting afterwards. A million tenants cost no more than the bound's 10,000.
func (c *Collector) Report(about About) *Report {
	seconds := about.Seconds
	if seconds == 0 {
		seconds = float64(c.window) / 1e9
	}
	r := &Report{
		Mode: about.Mode, Seed: about.Seed, Seconds: Number(seconds), Meta: about.Meta,
		Classes: Groups{}, Tenants: Groups{}, Series: SeriesByClass{},
		Warnings: append(append(Strings{}, about.Warnings...), c.warned...),
		Rungs:    append(Strings{}, c.rungs...),
	}
	end := int64(math.Round(float64(seconds * 1e9)))
	var total account
	var shadow Shadow
	var latency, refused, wait histogram
	tenants := make(map[*tenant]*account, len(c.tenants))
	for _, t := range c.tenants {
		tenants[t] = &account{}
	}
	for _, cl := range c.classes {
		of := account{slotNs: max(0, cl.slotArea+cl.slots*end)}
		for _, t := range cl.tallies {
			of.Tally.add(t)
			by := tenants[t.tenant]
			by.Tally.add(t)
			by.slotNs += of.slotNs
			if of.slotNs == 0 { // held slots of nobody knows how many: no share
				by.heldNs -= t.heldNs
			}
		}
		if of.slotNs == 0 {
			of.heldNs = 0
		}
		g := of.group(c, seconds)
		g.quantiles(&cl.latency, &cl.refused, &cl.wait)
		g.Shadow.add(&cl.shadow)
		shadow.add(&cl.shadow)
		r.Classes[cl.name] = g
		r.ClassOrder = append(r.ClassOrder, cl.name)
		r.Series[cl.name] = cl.export()

		total.Tally.add(&of.Tally)
		total.slotNs += of.slotNs
		latency.merge(&cl.latency)
		refused.merge(&cl.refused)
		wait.merge(&cl.wait)
	}
	for _, t := range c.tenants {
		g := tenants[t].group(c, seconds)
		g.quantiles(&t.latency, &t.refused, &t.wait)
		r.Tenants[t.name] = g
	}
	g := total.group(c, seconds)
	g.quantiles(&latency, &refused, &wait)
	g.Shadow = shadow
	r.Group = *g
	return r
}

// An account is the sum of some tallies and the slot time they had.
type account struct {
	Tally
	slotNs int64
}

func (a *account) group(c *Collector, seconds float64) *Group {
	g := NewGroup()
	g.Offered, g.Waiting, g.Running = a.offered, a.waiting(), a.running()
	for i, n := range a.answered {
		if n > 0 {
			g.Answered[c.rungs[i]] = n
		}
	}
	for i, n := range a.reasons {
		if n > 0 {
			g.Reasons[c.reasons[i]] = n
		}
	}
	for i, n := range a.refused {
		if n > 0 {
			g.Refused[c.reasons[i]] = n
		}
	}
	g.GoodputPerS = PerSecond(a.goodput, seconds)
	g.Utilisation = Share(a.heldNs, a.slotNs)
	g.CallsPerRequest = Share(a.calls, a.offered)
	return g
}

type quantiler interface {
	at(p float64) Number
	maximum() Number
}

func (g *Group) quantiles(latency, refused, wait quantiler) {
	g.P50Ms, g.P90Ms, g.P99Ms, g.P999Ms = latency.at(0.5), latency.at(0.9), latency.at(0.99), latency.at(0.999)
	g.MaxMs = latency.maximum()
	g.RefusedP50Ms, g.RefusedP99Ms = refused.at(0.5), refused.at(0.99)
	g.QueueWaitP50Ms, g.QueueWaitP99Ms = wait.at(0.5), wait.at(0.99)
}
