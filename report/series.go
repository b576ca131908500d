package report

import (
	"math/bits"
	"time"
)

// maxBuckets of time a class keeps (about 2.3 KiB each); a chart 900 px wide
// shows no more. One more doubles the width of all.
const maxBuckets = 400

// bucketWidth is Options.Bucket, or the smallest of 1, 2, 5 x 10^n ms that cuts
// Options.For into at most 200 buckets.
func bucketWidth(o Options) int64 {
	if o.Bucket > 0 {
		return int64(o.Bucket)
	}
	if o.For <= 0 {
		return int64(10 * time.Millisecond)
	}
	for unit := int64(time.Millisecond); unit < int64(o.For); unit *= 10 {
		for _, width := range [...]int64{unit, 2 * unit, 5 * unit} {
			if int64(o.For)/width <= 200 {
				return width
			}
		}
	}
	return int64(time.Millisecond)
}

// series is the course of a class in time.
type series struct {
	buckets []bucket
	current *bucket // the last one used: [from, to)
	from    int64
	to      int64
	waiting int64 // now, as the events were reported
}

type bucket struct {
	offered, started           int64
	endedRunning, endedWaiting int64
	answered                   [maxRungs]uint32
	refused                    [maxReasons]uint32
	depth                      int64   // the most that an arrival found waiting
	capacity                   float64 // last set in this bucket; 0 as before
	waits                      *coarse // of the requests started
}

// bucket returns the bucket that at falls into. It is a method of Class because
// a change of width concerns every class.
func (cl *Class) bucket(at int64) *bucket {
	if at >= cl.from && at < cl.to {
		return cl.current
	}
	return cl.seek(at)
}

func (cl *Class) seek(at int64) *bucket {
	at = max(at, 0)
	for at/cl.c.width >= maxBuckets {
		cl.c.coarsen()
	}
	i := int(at / cl.c.width)
	for len(cl.buckets) <= i {
		cl.buckets = append(cl.buckets, bucket{})
	}
	cl.current = &cl.buckets[i]
	cl.from = int64(i) * cl.c.width
	cl.to = cl.from + cl.c.width
	return cl.current
}

// coarsen doubles the width of all buckets.
func (c *Collector) coarsen() {
	c.width *= 2
	for _, cl := range c.classes {
		half := (len(cl.buckets) + 1) / 2
		for i := range half {
			b := cl.buckets[2*i]
			if 2*i+1 < len(cl.buckets) {
				b.add(&cl.buckets[2*i+1])
			}
			cl.buckets[i] = b
		}
		clear(cl.buckets[half:])
		cl.buckets = cl.buckets[:half]
		cl.from, cl.to, cl.current = 0, 0, nil
	}
}

// add appends a later bucket, or the same one of a shard.
func (b *bucket) add(later *bucket) {
	b.offered += later.offered
	b.started += later.started
	b.endedRunning += later.endedRunning
	b.endedWaiting += later.endedWaiting
	for i := range b.answered {
		b.answered[i] += later.answered[i]
	}
	for i := range b.refused {
		b.refused[i] += later.refused[i]
	}
	b.depth = max(b.depth, later.depth)
	if later.capacity != 0 {
		b.capacity = later.capacity
	}
	if b.waits == nil {
		b.waits = later.waits
	} else if later.waits != nil {
		b.waits.add(later.waits)
	}
}

func (b *bucket) wait(ns int64) {
	if b.waits == nil {
		b.waits = new(coarse)
	}
	b.waits[coarseIndex(ns)]++
}

// coarse is a histogram of 16 steps an octave from 1 µs to 4,295 s: a value is
// known to 3 %, which is what a chart can show. (The quantiles of the whole run
// come from the fine histograms.)
type coarse [32*16 + 1]uint32

// coarseIndex of a duration: 0 below 1 µs (1,024 ns), then octave by octave.
func coarseIndex(ns int64) int {
	us := uint64(max(ns, 0)) >> 6 // 64 ns units: an octave starts with 16 of them
	if us < 16 {
		return 0
	}
	octave := bits.Len64(us) - 5
	return min(octave*16+int(us>>octave)-16+1, len(coarse{})-1)
}

// coarseValue is the middle of a step, in ns.
func coarseValue(i int) int64 {
	if i == 0 {
		return 0
	}
	octave, step := (i-1)/16, int64((i-1)%16)
	low := (16 + step) << octave << 6
	return low + int64(1)<<octave<<5
}

func (h *coarse) add(from *coarse) {
	for i := range h {
		h[i] += from[i]
	}
}

func (h *coarse) at(p float64) Number {
	if h == nil {
		return None()
	}
	var total, seen int64
	for _, n := range h {
		total += int64(n)
	}
	if total == 0 {
		return None()
	}
	for i, n := range h {
		seen += int64(n)
		if float64(seen) >= float64(p*float64(total)) {
			return Ms(coarseValue(i))
		}
	}
	return None()
}
