package estimate

import (
	"cmp"
	"slices"
	"time"
)

// What an estimator has seen, as values: to hand it on to another process. Each
// Import takes whatever it is given, cut to what the estimator itself could have
// come to, so that no state is an invalid one.

// MeanState is what a Mean has seen.
type MeanState struct {
	Samples int64 `json:"samples"`
	SumNS   int64 `json:"sum_ns"` // of the samples; at the window's length the average times it
}

// Export returns the mean as a value.
func (m *Mean) Export() MeanState { return MeanState{m.count, m.sum} }

// Import replaces what the mean has seen.
func (m *Mean) Import(s MeanState) {
	m.count = min(max(s.Samples, 0), meanWindow)
	m.sum = min(max(s.SumNS, 0), m.count*int64(meanSampleMax))
}

// Count is how many samples lie in a bucket.
type Count struct {
	Bucket int    `json:"bucket"`
	N      uint32 `json:"n"`
}

// QuantilesState is what Quantiles have seen: the buckets that hold something, by
// their place, at most one each. Which quantiles are followed is not part of it.
type QuantilesState []Count

// Export returns what was seen as a value.
func (q *Quantiles) Export() QuantilesState {
	var s QuantilesState
	for i, n := range q.count {
		if n > 0 {
			s = append(s, Count{i, n})
		}
	}
	return s
}

// Import replaces what was seen.
func (q *Quantiles) Import(s QuantilesState) {
	q.count, q.total = [buckets]uint32{}, 0
	for i := range q.markers {
		q.markers[i].at, q.markers[i].below = 0, 0
	}
	sorted := slices.Clone(s)
	slices.SortStableFunc(sorted, func(a, b Count) int { return cmp.Compare(a.Bucket, b.Bucket) })
	for _, c := range sorted {
		n := min(int64(c.N), quantileWindow-1-q.total)
		if c.Bucket < 0 || c.Bucket >= buckets || n <= 0 {
			continue
		}
		q.count[c.Bucket] += uint32(n)
		q.total += n
	}
}

// RecentState is what a Recent has seen.
type RecentState struct {
	PreviousNS int64 `json:"previous_ns"`
	CurrentNS  int64 `json:"current_ns"`
	Samples    int   `json:"samples"` // of the current block
}

// Export returns what was seen as a value.
func (r *Recent) Export() RecentState {
	return RecentState{int64(r.previous), int64(r.current), r.count}
}

// Import replaces what was seen.
func (r *Recent) Import(s RecentState) {
	r.previous, r.current = time.Duration(max(s.PreviousNS, 0)), time.Duration(max(s.CurrentNS, 0))
	r.count = min(max(s.Samples, 0), recentBlock)
}
