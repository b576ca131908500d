package observe

import (
	"math"
	"sync/atomic"
	"time"

	dto "github.com/prometheus/client_model/go"
)

// The histogram keeps its counts twice: in fine buckets that a native histogram
// is made of, and in the coarse ones that older scrapers read.
const (
	// schema 2 is four buckets a doubling: a quantile is off by at most 9 %.
	schema     = 2
	perDouble  = 1 << schema
	expLeast   = -20 // 2^-20 s, just under a microsecond: below it is "at once"
	expMost    = 10  // 2^10 s, 17 minutes: above it is in the last bucket
	nativeSize = (expMost - expLeast) * perDouble
)

// classic are the upper bounds of the coarse buckets, in seconds. They are
// dense where budgets usually lie.
var classic = [...]float64{
	0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30,
}

// classicNanos are the same in nanoseconds.
var classicNanos = func() (ns [len(classic)]int64) {
	for i, s := range classic {
		ns[i] = int64(math.Round(s * 1e9))
	}
	return ns
}()

// fractions are the bounds of one doubling, for a fraction in [0.5, 1).
var fractions = func() (f [perDouble]float64) {
	for i := range f {
		f[i] = 0.5 * math.Pow(2, float64(i)/perDouble)
	}
	return f
}()

// Histogram counts durations. The zero value is empty and ready. Observe costs
// three atomic additions, allocates nothing, and may be called by many
// goroutines at once; a scrape that runs meanwhile may see a duration counted
// that is not in the sum yet.
type Histogram struct {
	zero   atomic.Uint64 // at most 2^-20 s
	native [nativeSize]atomic.Uint64
	coarse [len(classic) + 1]atomic.Uint64
	sum    atomic.Int64 // nanoseconds
}

// Observe counts a duration. A negative one counts as none.
func (h *Histogram) Observe(d time.Duration) {
	d = max(d, 0)
	if i := nativeIndex(d); i < 0 {
		h.zero.Add(1)
	} else {
		h.native[i].Add(1)
	}
	h.coarse[coarseIndex(d)].Add(1)
	if d > 0 {
		h.sum.Add(int64(d))
	}
}

// nativeIndex returns the fine bucket of d, -1 for the zero bucket.
func nativeIndex(d time.Duration) int {
	frac, exp := math.Frexp(float64(d) / 1e9)
	if d == 0 || exp <= expLeast {
		return -1
	}
	i := (exp - 1 - expLeast) * perDouble
	for _, bound := range fractions {
		if bound < frac {
			i++
		}
	}
	return min(max(i, 0), nativeSize) - 1
}

func coarseIndex(d time.Duration) int {
	for i, bound := range classicNanos {
		if int64(d) <= bound {
			return i
		}
	}
	return len(classic)
}

// write fills in the metric.
func (h *Histogram) write(m *dto.Histogram) {
	var count uint64
	for i := range h.coarse {
		count += h.coarse[i].Load()
		if i < len(classic) {
			cumulative, bound := count, classic[i]
			m.Bucket = append(m.Bucket, &dto.Bucket{CumulativeCount: &cumulative, UpperBound: &bound})
		}
	}
	sum := float64(h.sum.Load()) / 1e9
	m.SampleCount, m.SampleSum = &count, &sum

	// A native histogram's count is that of its own buckets, or the scraper
	// turns it down; observations that came in between are left to the next.
	zero := h.zero.Load()
	fine := zero
	first, last := -1, -1
	var counts [nativeSize]uint64
	for i := range h.native {
		if counts[i] = h.native[i].Load(); counts[i] > 0 {
			fine += counts[i]
			if first < 0 {
				first = i
			}
			last = i
		}
	}
	if fine != count {
		return // a duration is being counted just now: the coarse buckets will do
	}
	s, threshold := int32(schema), math.Pow(2, expLeast)
	m.Schema, m.ZeroThreshold, m.ZeroCount = &s, &threshold, &zero
	if first < 0 {
		offset, length := int32(0), uint32(0)
		m.PositiveSpan = []*dto.BucketSpan{{Offset: &offset, Length: &length}}
		return
	}
	offset, length := int32(first+1+expLeast*perDouble), uint32(last-first+1)
	m.PositiveSpan = []*dto.BucketSpan{{Offset: &offset, Length: &length}}
	previous := int64(0)
	for _, c := range counts[first : last+1] {
		m.PositiveDelta = append(m.PositiveDelta, int64(c)-previous)
		previous = int64(c)
	}
}
