package shed

import (
	"math"
	"time"

	"github.com/spillway-dev/spillway/policy/chance"
)

// levels is how many places in the order of shedding there are: what is kept, then
// the buckets of gaps.
const levels = 1 + Buckets

// level returns the place of a request in the order of shedding.
func (a *Ask) level() int {
	if a.Kept {
		return 0
	}
	return 1 + a.Gap.Bucket()
}

// demand is what is offered: how much a second, of which level.
//
// It is an exponentially weighted mean over a second, over more where requests are
// few (a thousand of them, at most ten seconds), and over all there has been until
// then. Twice the load would be seen by half after 0.7 s only; so a block of up to
// a tenth of a second that holds more than chance explains, four standard deviations
// of a Poisson count, replaces what was known; or that holds less. For more the queue
// must have grown too: what fits into the waiting room is no overload.
type demand struct {
	offered [levels]uint32 // since the latest look
	rate    [levels]float64
	total   float64       // per second: the sum of rate
	age     time.Duration // of the oldest of what total rests on
	block   struct {
		n  int64
		of time.Duration
	}
}

const (
	window        = time.Second
	windowMost    = 10 * time.Second
	windowCount   = 1000 // requests
	blockLeast    = 100 * time.Millisecond
	blockMost     = time.Second
	blockCount    = 16 // requests
	beyondChance  = 4  // standard deviations
	rateOfNothing = 1e-3
)

// look takes in what was offered in the time dt; queued says that more waits than
// should.
func (d *demand) look(dt time.Duration, queued bool) {
	if dt <= 0 {
		return
	}
	seconds := dt.Seconds()
	keep := d.window().Seconds()
	weight := seconds / (float64(min(keep, d.age.Seconds())) + seconds)
	each, rest := weight/seconds, 1-weight
	total, n := 0.0, int64(0)
	for i, c := range d.offered {
		d.rate[i] = float64(d.rate[i]*rest) + float64(float64(c)*each)
		total += d.rate[i]
		n += int64(c)
	}
	d.total, d.offered = total, [levels]uint32{}
	d.age = min(d.age+dt, windowMost)
	d.block.n += n
	d.block.of += dt
	jumped := d.block.n >= blockCount && d.jump(float64(d.block.n), d.block.of, queued)
	if jumped || d.block.of >= blockMost || d.block.of >= blockLeast && d.block.n >= blockCount {
		d.block.n, d.block.of = 0, 0
	}
}

// window is what the mean is taken over.
func (d *demand) window() time.Duration {
	if d.total*windowMost.Seconds() <= windowCount {
		return windowMost
	}
	return max(window, time.Duration(windowCount/d.total*1e9))
}

// jump replaces the rate by that of the latest block where that is beyond chance,
// and reports whether it is.
func (d *demand) jump(n float64, of time.Duration, queued bool) bool {
	expected := float64(d.total * of.Seconds())
	excess := n - expected
	if excess > 0 && !queued || float64(excess*excess) <= float64(beyondChance*beyondChance*max(n, expected)) {
		return false
	}
	d.scale(n / of.Seconds() / max(d.total, rateOfNothing))
	d.age = of
	return true
}

func (d *demand) scale(by float64) {
	d.total = 0
	for i := range d.rate {
		d.rate[i] = float64(d.rate[i] * by)
		d.total += d.rate[i]
	}
}

// sure returns the rate less its standard error: what comes in at the least, as far
// as can be said already.
func (d *demand) sure() float64 {
	n := float64(d.total * min(d.window(), d.age).Seconds())
	if n <= 1 {
		return 0
	}
	return d.total - d.total/math.Sqrt(n)
}

// cut is where shedding ends: below that level all are shed, in it those with a
// place below part.
type cut struct {
	level int
	part  int // of chance.Whole
}

// cut returns the one below which that share of all that is offered lies.
func (d *demand) cut(share float64) cut {
	rest := float64(share * d.total)
	if rest <= 0 {
		return cut{}
	}
	for i, r := range d.rate {
		if r > rest {
			return cut{i, int(float64(rest / r * chance.Whole))}
		}
		rest -= r
	}
	return cut{level: levels}
}
