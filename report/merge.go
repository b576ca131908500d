package report

// Merge adds what from has counted to c and leaves from to be thrown away: it
// may share memory with c afterwards. Classes, tenants, rungs and reasons are
// matched by name, so workers need not have met them in the same order; the
// order that c shows is its own, then that of from. Slots and capacity may be
// reported by any one worker. Both must have been made with the same Options.
func (c *Collector) Merge(from *Collector) {
	for c.width < from.width {
		c.coarsen()
	}
	for from.width < c.width {
		from.coarsen()
	}
	if c.width != from.width {
		panic("BUG: merged collectors must come from the same Options")
	}
	from.translate(c)
	for _, f := range from.classes {
		cl := c.Class(f.name)
		cl.latency.merge(&f.latency)
		cl.refused.merge(&f.refused)
		cl.wait.merge(&f.wait)
		cl.shadow.add(&f.shadow)
		cl.slots += f.slots
		cl.slotArea += f.slotArea
		cl.capacity = max(cl.capacity, f.capacity)
		cl.waiting += f.waiting
		if n := len(f.buckets); n > 0 {
			cl.seek(int64(n-1) * c.width)
		}
		for i := range f.buckets {
			cl.buckets[i].merge(&f.buckets[i])
		}
		for _, t := range f.tallies {
			cl.tally(c.tenant(t.tenant.name)).add(t)
		}
	}
	for _, f := range from.tenants {
		t := c.tenant(f.name)
		t.latency.merge(&f.latency, t)
		t.refused.merge(&f.refused, t)
		t.wait.merge(&f.wait, t)
	}
	for _, line := range from.warned {
		c.warn(line)
	}
}

// merge adds a shard's bucket: depths add up, because each shard saw only its
// own part of the queue.
func (b *bucket) merge(shard *bucket) {
	depth := b.depth + shard.depth
	b.add(shard)
	b.depth = depth
}

// translate renumbers the rungs and reasons of c to those of to.
func (c *Collector) translate(to *Collector) {
	var rungs [maxRungs]int
	var reasons [maxReasons]int
	for i, name := range c.rungs {
		rungs[i] = int(to.Rung(name))
	}
	for i, name := range c.reasons {
		reasons[i] = int(to.Reason(name))
	}
	for _, cl := range c.classes {
		for _, t := range cl.tallies {
			renumber(t.answered[:], rungs[:])
			renumber(t.reasons[:], reasons[:])
			renumber(t.refused[:], reasons[:])
		}
		for i := range cl.buckets {
			b := &cl.buckets[i]
			renumber(b.answered[:], rungs[:])
			renumber(b.refused[:], reasons[:])
		}
	}
}

func renumber[T int64 | uint32](counts []T, to []int) {
	var moved [maxReasons]T
	for i, n := range counts {
		if n != 0 {
			moved[to[i]] += n
		}
	}
	copy(counts, moved[:])
}
