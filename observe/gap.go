package observe

import (
	"github.com/spillway-dev/spillway/policy/gap"
	"github.com/spillway-dev/spillway/policy/shed"
)

// Gap is what is known at a scrape of a gap that is learned.
type Gap struct {
	Resource, Class string
	// Estimates are those of its buckets, the most sampled first.
	Estimates []gap.Estimate
	// What became of requests that were sampled; NoPlace were compared, and their
	// bucket had no place.
	Compared, NoPlace, Unspared, Unanswered, Unlike int64
}

// GapsMost is how many buckets of a class are shown by name: of those of which enough
// is known, so that what a caller makes up is none of them.
const GapsMost = 20

var (
	gapSamples = Definition{"spillway_gap_samples_total", "counter", []string{"resource", "class", "came"}, "Requests sampled to learn the gap, by what came of it: compared; no_place, compared, but there are more buckets than are learned of; unspared, there was no capacity to spare; unanswered, no cheaper rung had an answer; unlike, the two cannot be compared."}
	gapBuckets = Definition{"spillway_gap_buckets", "gauge", []string{"resource", "class", "known"}, "Buckets that are learned of, by whether there are enough samples of it (yes, no)."}
	gapLearned = Definition{"spillway_gap_ratio", "gauge", []string{"resource", "class", "bucket", "bound"}, "What is known of the most sampled of the buckets of which there are enough samples, as shares from 0 to 1: the mean distance of the two answers, what it lies between (lower, upper, 95 %), and the gap that is used."}
)

// gaps adds what each class has learned.
func (s sink) gaps(all []Gap) {
	for i := range all {
		g := &all[i]
		for _, f := range []struct {
			came string
			n    int64
		}{{"compared", g.Compared - g.NoPlace}, {"no_place", g.NoPlace}, {"unspared", g.Unspared}, {"unanswered", g.Unanswered}, {"unlike", g.Unlike}} {
			s.add(&gapSamples, float64(f.n), g.Resource, g.Class, f.came)
		}
		known := 0
		shown := make(map[string]bool)
		for _, e := range g.Estimates {
			if e.Known {
				known++
			}
			name := Printable(e.Bucket, tenantLabelMax)
			if !e.Known || len(shown) >= GapsMost || shown[name] { // two that look alike would be one series twice
				continue
			}
			shown[name] = true
			s.add(&gapLearned, e.Mean, g.Resource, g.Class, name, "mean")
			s.add(&gapLearned, e.Lower, g.Resource, g.Class, name, "lower")
			s.add(&gapLearned, e.Upper, g.Resource, g.Class, name, "upper")
			s.add(&gapLearned, float64(e.Gap)/float64(shed.Useless), g.Resource, g.Class, name, "used")
		}
		s.add(&gapBuckets, float64(known), g.Resource, g.Class, "yes")
		s.add(&gapBuckets, float64(len(g.Estimates)-known), g.Resource, g.Class, "no")
	}
}
