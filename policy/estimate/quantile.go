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

// Quantile follows one quantile of durations. A sample takes constant time: the
// marker moves with the quantile, over a bucket or two where samples lie close
// together and never over more than all 1024.
type Quantile struct {
	percent int64
	count   [buckets]uint32
	total   int64
	marker  int   // the bucket that holds the quantile
	below   int64 // samples in the buckets under marker
}

// NewQuantile returns an estimator of the given percentile, 1 .. 99.
func NewQuantile(percent int) Quantile {
	return Quantile{percent: int64(min(max(percent, 1), 99))}
}

// Add takes one sample.
func (q *Quantile) Add(d time.Duration) {
	b := bucketOf(d)
	q.count[b]++
	q.total++
	if b < q.marker {
		q.below++
	}
	if q.total >= quantileWindow {
		q.halve()
	}
	q.settle()
}

// Samples returns how many samples the estimate rests on.
func (q *Quantile) Samples() int { return int(q.total) }

// Value returns the lower edge of the bucket that holds the quantile: an
// estimate that errs on the short side by at most 3.2 %. It is 0 without
// samples.
func (q *Quantile) Value() time.Duration {
	if q.total == 0 {
		return 0
	}
	return lowerEdge(q.marker)
}

// Upper returns the upper edge of that bucket: an estimate that errs on the long
// side by at most 3.2 %, or a microsecond. It is 0 without samples.
func (q *Quantile) Upper() time.Duration {
	if q.total == 0 {
		return 0
	}
	return lowerEdge(q.marker + 1)
}

// settle moves the marker until below <= rank < below + its own count.
func (q *Quantile) settle() {
	rank := q.total * q.percent / 100
	for q.below > rank {
		q.marker--
		q.below -= int64(q.count[q.marker])
	}
	for q.below+int64(q.count[q.marker]) <= rank && q.marker < buckets-1 {
		q.below += int64(q.count[q.marker])
		q.marker++
	}
}

// halve forgets half of what was counted. The odd one of a bucket is carried to
// the next bucket that has one, so that a tail of single samples keeps its
// weight.
func (q *Quantile) halve() {
	q.total, q.below = 0, 0
	odd := uint32(0)
	for i := range q.count {
		n := q.count[i] + odd
		q.count[i], odd = n/2, n%2
		q.total += int64(q.count[i])
		if i < q.marker {
			q.below += int64(q.count[i])
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
