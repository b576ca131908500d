package report

import (
	"math"
	"slices"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// significantDigits of the histograms: three keep every quantile within 1/1024
// of the exact one. A fourth would cost ten times the memory.
const significantDigits = 3

// longestNs is the longest duration a histogram tells apart, one hour; longer
// ones count as one hour in quantiles, the maximum stays exact. Doubling it
// costs 8 KiB a histogram.
const longestNs = int64(3600e9)

// A histogram records durations in nanoseconds; its memory is made with the
// first of them (about 270 KiB, touched only where values fall).
type histogram struct {
	h   *hdrhistogram.Histogram
	max int64
}

func (q *histogram) record(ns int64) {
	if q.h == nil {
		q.h = hdrhistogram.New(1, longestNs, significantDigits)
	}
	if ns > q.max {
		q.max = ns
	}
	// Cannot fail: the value is inside the range by construction.
	_ = q.h.RecordValue(min(max(ns, 0), longestNs))
}

func (q *histogram) merge(from *histogram) {
	if from.h == nil {
		return
	}
	if q.h == nil {
		q.h = hdrhistogram.New(1, longestNs, significantDigits)
	}
	q.h.Merge(from.h)
	q.max = max(q.max, from.max)
}

// at returns the p-quantile (0 to 1) in ms, at most 0.1 % above the nearest
// rank and never above the maximum.
func (q *histogram) at(p float64) Number {
	if q.h == nil {
		return None()
	}
	// The library rounds to the nearer rank; asking for a rank's own share gets
	// exactly that rank.
	n := q.h.TotalCount()
	share := float64(rank(p, n)) / float64(n)
	return Ms(min(q.h.ValueAtPercentile(float64(share*100)), q.max))
}

func (q *histogram) maximum() Number {
	if q.h == nil {
		return None()
	}
	return Ms(q.max)
}

// fewSamples is how many durations a tenant keeps one by one before it asks for
// a histogram: 0.5 KiB a tenant and kind of duration. More would make the choice
// of the tenants that get histograms better and 10,000 small tenants dearer.
const fewSamples = 64

// A sampler gives exact quantiles of few durations, a histogram's of many, and
// none when it was refused a histogram.
type sampler struct {
	few  []int64
	many histogram
	lost bool // more durations came than could be kept: quantiles are unknown
}

// record keeps ns; of is asked once whether a histogram may be made. Durations
// are kept one by one first and entered by the roomful: the histograms of many
// tenants do not fit into a processor's caches, and misses in a row overlap.
func (s *sampler) record(ns int64, of *tenant) {
	if s.lost {
		return
	}
	if len(s.few) == fewSamples {
		if s.many.h == nil && !of.granted() {
			s.lost, s.few = true, nil
			return
		}
		s.promote()
	}
	if s.few == nil {
		s.few = make([]int64, 0, fewSamples)
	}
	s.few = append(s.few, max(ns, 0))
}

// promote enters what was kept one by one into the histogram.
func (s *sampler) promote() {
	for _, ns := range s.few {
		s.many.record(ns)
	}
	s.few = s.few[:0]
}

func (s *sampler) merge(from *sampler, of *tenant) {
	if s.lost || from.lost {
		*s = sampler{lost: true}
		return
	}
	if from.many.h != nil && s.many.h == nil && !of.granted() {
		*s = sampler{lost: true}
		return
	}
	s.many.merge(&from.many)
	for _, ns := range from.few {
		s.record(ns, of)
	}
}

func (s *sampler) at(p float64) Number {
	if s.many.h != nil || len(s.few) == 0 {
		s.promote()
		return s.many.at(p)
	}
	sorted := slices.Sorted(slices.Values(s.few))
	return Ms(sorted[rank(p, int64(len(sorted)))-1])
}

// rank is the nearest rank of the p-quantile among n values, 1 to n: the
// smallest value that at least a share p of all does not exceed.
func rank(p float64, n int64) int64 {
	return min(max(int64(math.Ceil(float64(p*float64(n)))), 1), n)
}

func (s *sampler) maximum() Number {
	if s.many.h != nil || len(s.few) == 0 {
		s.promote()
		return s.many.maximum()
	}
	return Ms(slices.Max(s.few))
}
