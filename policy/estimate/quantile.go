package estimate

import (
	"math/bits"
	"time"
)

// Buckets are log-linear: 32 to each power of two, so that a bucket's edges
// are within 3.2 % of each other. The first bucket is 1 microsecond wide; the
// last begins at about 19 hours, past every deadline a class may have.
const (
	subBits     = 5
	subBuckets  = 1 << subBits
	buckets     = 32 * subBuckets
	bucketGrain = 10 // bits: about a microsecond
)

// quantileWindow is the number of samples at which all counts are halved, so
// that what is older than two windows weighs less than a quarter. A quantile
// of 0.9 rests on at least a hundred samples above it.
const quantileWindow = 2048

// QuantilesMax is how many quantiles [Quantiles] follows at once.
const QuantilesMax = 3

// Quantiles follows up to three quantiles of the same durations. A sample takes
// constant time. A marker moves to where its quantile has gone when it is asked for,
// over a bucket or two where samples lie close together and never over more than
// all 1024: there is one place for it, whenever it is looked for.
type Quantiles struct {
	count   [buckets]uint32
	total   int64
	markers [QuantilesMax]marker
}

// A marker stands on the bucket that holds its quantile. One that follows
// nothing stays on the first.
type marker struct {
	percent int64
	at      int
	below   int64 // samples in the buckets under at
}

// NewQuantiles returns an estimator of the given percentiles, 1 .. 99 each, at
// most QuantilesMax.
func NewQuantiles(percent ...int) Quantiles {
	var q Quantiles
	for i, p := range percent {
		q.Follow(i, p)
	}
	return q
}

// Follow has the i-th quantile be that percentile, 1 .. 99, from now on. All samples
// count for it, for what is counted is all of them.
func (q *Quantiles) Follow(i, percent int) {
	q.markers[i].percent = int64(min(max(percent, 1), 99))
}

// Add takes one sample.
func (q *Quantiles) Add(d time.Duration) {
	b := bucketOf(d)
	q.count[b]++
	q.total++
	for i := range q.markers {
		if m := &q.markers[i]; b < m.at {
			m.below++
		}
	}
	if q.total >= quantileWindow {
		q.halve()
	}
}

// Samples returns how many samples the estimates rest on.
func (q *Quantiles) Samples() int { return int(q.total) }

// Value returns the lower edge of the bucket that holds the i-th quantile: an
// estimate that errs on the short side by at most 3.2 %. It is 0 without
// samples.
func (q *Quantiles) Value(i int) time.Duration {
	if q.total == 0 {
		return 0
	}
	return lowerEdge(q.settle(&q.markers[i]))
}

// Upper returns the upper edge of that bucket: an estimate that errs on the long
// side by at most 3.2 %, or a microsecond. It is 0 without samples.
func (q *Quantiles) Upper(i int) time.Duration {
	if q.total == 0 {
		return 0
	}
	return lowerEdge(q.settle(&q.markers[i]) + 1)
}

// settle moves the marker until below <= rank < below + its own count, and returns
// its bucket.
func (q *Quantiles) settle(m *marker) int {
	rank := int64(uint64(q.total*m.percent) / 100)
	for m.below > rank {
		m.at--
		m.below -= int64(q.count[m.at])
	}
	for m.below+int64(q.count[m.at]) <= rank && m.at < buckets-1 {
		m.below += int64(q.count[m.at])
		m.at++
	}
	return m.at
}

// halve forgets half of what was counted. The odd one of a bucket is carried to
// the next bucket that has one, so that a tail of single samples keeps its
// weight.
func (q *Quantiles) halve() {
	q.total = 0
	odd := uint32(0)
	for i := range q.count {
		n := q.count[i] + odd
		q.count[i], odd = n/2, n%2
		q.total += int64(q.count[i])
	}
	for i := range q.markers {
		m := &q.markers[i]
		m.below = 0
		for _, n := range q.count[:m.at] {
			m.below += int64(n)
		}
	}
}

func bucketOf(d time.Duration) int {
	x := uint64(max(d, 0)) >> bucketGrain
	if x < subBuckets {
		return int(x)
	}
	shift := bits.Len64(x) - subBits - 1
	return min((shift+1)<<subBits+int(x>>shift)-subBuckets, buckets-1)
}

func lowerEdge(bucket int) time.Duration {
	if bucket < subBuckets {
		return time.Duration(bucket << bucketGrain)
	}
	shift := bucket>>subBits - 1
	mantissa := bucket&(subBuckets-1) + subBuckets
	return time.Duration(mantissa<<shift) << bucketGrain
}
