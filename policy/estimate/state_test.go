package estimate

import (
	"testing"
	"time"

	"pgregory.net/rapid"
)

// What was handed on says the same, and goes on saying the same.
func TestWhatIsHandedOnGoesOnAlike(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		sample := rapid.Custom(func(t *rapid.T) time.Duration {
			return time.Duration(rapid.Int64Range(-1, 1<<rapid.IntRange(0, 62).Draw(t, "scale")).Draw(t, "took"))
		})
		percents := []int{98, 90, 50}
		mean, quantiles, recent := Mean{}, NewQuantiles(percents...), Recent{}
		before := rapid.SliceOfN(sample, 0, 300).Draw(t, "before")
		for _, d := range before {
			mean.Add(d)
			quantiles.Add(d)
			recent.Add(d)
		}
		if rapid.Bool().Draw(t, "long") { // past the windows
			for i := range 2 * quantileWindow {
				mean.Add(time.Duration(i))
				quantiles.Add(time.Duration(i) << 12)
				recent.Add(time.Duration(i))
			}
		}
		mean2, quantiles2, recent2 := Mean{}, NewQuantiles(percents...), Recent{}
		mean2.Import(mean.Export())
		quantiles2.Import(quantiles.Export())
		recent2.Import(recent.Export())
		for _, d := range append(rapid.SliceOfN(sample, 0, 100).Draw(t, "after"), 0) {
			if mean.Value() != mean2.Value() || mean.Samples() != mean2.Samples() || recent.Value() != recent2.Value() || quantiles.Samples() != quantiles2.Samples() {
				t.Fatalf("mean %v of %d and %v of %d, recent %v and %v, %d and %d samples", mean.Value(), mean.Samples(), mean2.Value(), mean2.Samples(),
					recent.Value(), recent2.Value(), quantiles.Samples(), quantiles2.Samples())
			}
			for i := range percents {
				if a, b := quantiles.Upper(i), quantiles2.Upper(i); a != b {
					t.Fatalf("percentile %d: %v and %v", percents[i], a, b)
				}
			}
			mean.Add(d)
			mean2.Add(d)
			recent.Add(d)
			recent2.Add(d)
			quantiles.Add(d)
			quantiles2.Add(d)
		}
	})
}

// Whatever is handed on, the estimators stay what they are.
func TestNothingThatIsHandedOnIsInvalid(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var mean Mean
		var recent Recent
		quantiles := NewQuantiles(98, 50)
		mean.Import(MeanState{rapid.Int64().Draw(t, "samples"), rapid.Int64().Draw(t, "sum")})
		recent.Import(RecentState{rapid.Int64().Draw(t, "previous"), rapid.Int64().Draw(t, "current"), rapid.Int().Draw(t, "in block")})
		var s QuantilesState
		for range rapid.IntRange(0, 50).Draw(t, "buckets") {
			s = append(s, Count{rapid.IntRange(-5, buckets+5).Draw(t, "bucket"), rapid.Uint32().Draw(t, "n")})
		}
		quantiles.Import(s)
		for range 3 * quantileWindow {
			mean.Add(time.Second)
			recent.Add(time.Second)
			quantiles.Add(time.Second)
		}
		if got := mean.Value(); got < 0 || mean.Samples() != meanWindow {
			t.Fatalf("mean %v of %d", got, mean.Samples())
		}
		if recent.Value() != time.Second {
			t.Fatalf("recent %v", recent.Value())
		}
		if got := quantiles.Upper(1); got < time.Second || got > 1100*time.Millisecond || quantiles.Samples() >= quantileWindow {
			t.Fatalf("half of all take %v, of %d", got, quantiles.Samples())
		}
	})
}
