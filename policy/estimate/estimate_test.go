package estimate

import (
	"math"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestMeanIsExactOverTheFirstWindow(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		samples := rapid.SliceOfN(rapid.Int64Range(-5, 1<<40), 1, meanWindow).Draw(t, "samples")
		var m Mean
		var sum int64
		for _, s := range samples {
			m.Add(time.Duration(s))
			sum += max(s, 0)
		}
		if got, want := m.Value(), time.Duration(sum/int64(len(samples))); got != want {
			t.Fatalf("the mean of %v is %v, want %v", samples, got, want)
		}
		if m.Samples() != len(samples) {
			t.Fatalf("%d samples, want %d", m.Samples(), len(samples))
		}
	})
}

func TestMeanFollowsALastingChangeAndShrugsAtOneSample(t *testing.T) {
	var m Mean
	add := func(n int, d time.Duration) {
		for range n {
			m.Add(d)
		}
	}
	add(1000, 100*time.Millisecond)
	if got := m.Value(); got != 100*time.Millisecond {
		t.Errorf("a constant has the mean %v", got)
	}
	add(1, 10*time.Second)
	if got := m.Value(); got >= 180*time.Millisecond {
		t.Errorf("after one sample of a hundred times the mean: %v", got)
	}
	add(3*meanWindow, 10*time.Millisecond)
	if got := m.Value(); got > 19*time.Millisecond {
		t.Errorf("three windows after a fall to 10 ms: %v", got)
	}
}

func TestMeanStaysBetweenTheExtremes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		samples := rapid.SliceOfN(rapid.Int64(), 1, 1000).Draw(t, "samples")
		var m Mean
		for _, s := range samples {
			m.Add(time.Duration(s))
		}
		least, most := min(max(slices.Min(samples), 0), int64(meanSampleMax)), max(slices.Max(samples), 0)
		// Forgetting rounds down: a nanosecond below the least at the most.
		if v := int64(m.Value()); v < least-1 || v > most {
			t.Fatalf("the mean is %d, the samples are in %d..%d", v, least, most)
		}
	})
}

// A quantile is never above the true one and at most a bucket, 3.2 % and a
// microsecond, below it.
func TestQuantileAgreesWithSorting(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		percent := rapid.IntRange(1, 99).Draw(t, "percent")
		samples := rapid.SliceOfN(rapid.Int64Range(0, int64(19*time.Hour)), 1, quantileWindow-1).Draw(t, "samples")
		q := NewQuantiles(percent)
		for _, s := range samples {
			q.Add(time.Duration(s))
		}
		slices.Sort(samples)
		within(t, &q, samples[len(samples)*percent/100], samples[len(samples)*percent/100])
	})
}

// Another percentile is that of all samples, those that came before it was asked for too,
// and whichever way it moves.
func TestAnotherPercentileKeepsTheSamples(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		percents := rapid.SliceOfN(rapid.IntRange(1, 99), 2, 6).Draw(t, "percents")
		samples := rapid.SliceOfN(rapid.Int64Range(0, int64(time.Minute)), 1, 300).Draw(t, "samples")
		q := NewQuantiles(percents[0])
		for i, s := range samples {
			q.Add(time.Duration(s))
			q.Follow(0, percents[i%len(percents)])
			if i%3 == 0 {
				q.Value(0) // the marker moves when it is looked for
			}
		}
		q.Follow(0, percents[1])
		slices.Sort(samples)
		within(t, &q, samples[len(samples)*percents[1]/100], samples[len(samples)*percents[1]/100])
	})
}

func within(t interface{ Fatalf(string, ...any) }, q *Quantiles, least, most int64) {
	got := float64(q.Value(0))
	if got > float64(most) || got < float64(least)/1.032-1025 {
		t.Fatalf("the %d%% quantile is %v, want %v .. %v", q.markers[0].percent, q.Value(0), time.Duration(least), time.Duration(most))
	}
}

// Counts that are halved again and again keep the quantile of a distribution,
// also where the tail is made of single samples.
func TestQuantileSurvivesHalving(t *testing.T) {
	q := NewQuantiles(90)
	var all []int64
	x := uint64(1)
	for range 50 * quantileWindow {
		x = x*6364136223846793005 + 1442695040888963407
		u := float64(x>>11+1) / (1 << 53)
		d := int64(10e6 / math.Sqrt(u)) // a heavy tail: 1 % take ten times as long as the fastest
		q.Add(time.Duration(d))
		all = append(all, d)
	}
	slices.Sort(all)
	rank := func(p float64) int64 { return all[int(p*float64(len(all)))] }
	within(t, &q, rank(0.88), rank(0.92)) // two standard errors of a rank over a thousand samples
}

func TestHalvingLosesNoWeight(t *testing.T) {
	q := NewQuantiles(90)
	for i := range quantileWindow - 1 { // the fast ones in one bucket, one in eight alone in its own
		if i%8 == 0 {
			q.count[100+i/8]++
		} else {
			q.count[50]++
		}
		q.total++
	}
	q.halve()
	var tail, total int64
	for i, n := range q.count {
		total += int64(n)
		if i > 50 {
			tail += int64(n)
		}
	}
	if total != q.total || tail != 128 && tail != 127 || total < quantileWindow/2-1 {
		t.Errorf("of 256 in the tail and %d in all, %d and %d are left", quantileWindow-1, tail, total)
	}
}

func TestQuantileTakesAnything(t *testing.T) {
	q := NewQuantiles(1000)
	for range 3 * quantileWindow {
		q.Add(math.MinInt64)
		q.Add(math.MaxInt64)
		q.Add(0)
	}
	if v := q.Value(0); v < 19*time.Hour {
		t.Errorf("the 99%% quantile of a third of for-evers is %v", v)
	}
	if empty := NewQuantiles(-3); empty.Value(0) != 0 || empty.Samples() != 0 {
		t.Errorf("without samples: %v", empty.Value(0))
	}
}

func TestBucketsAreContiguous(t *testing.T) {
	for b := range buckets {
		lower := lowerEdge(b)
		if got := bucketOf(lower); got != b {
			t.Fatalf("bucket %d begins at %v, which is in bucket %d", b, lower, got)
		}
		if b > 0 {
			if got := bucketOf(lower - 1); got != b-1 {
				t.Fatalf("bucket %d begins at %v, and what is just before in bucket %d", b, lower, got)
			}
		}
		if b >= subBuckets && b < buckets-1 {
			if width := float64(lowerEdge(b+1)) / float64(lower); width > 1.032 {
				t.Fatalf("bucket %d: its edges differ by a factor of %v", b, width)
			}
		}
	}
}

// The largest of the last 16 at the least, and of the last 32 at the most.
func TestRecent(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		samples := rapid.SliceOfN(rapid.Int64Range(0, 1000), 1, 200).Draw(t, "samples")
		var r Recent
		for i, s := range samples {
			r.Add(time.Duration(s))
			last := func(n int) int64 { return slices.Max(samples[max(0, i+1-n) : i+1]) }
			if v := int64(r.Value()); v < last(recentBlock) || v > last(2*recentBlock) {
				t.Fatalf("after %v: %d", samples[:i+1], v)
			}
		}
	})
}

func BenchmarkQuantile(b *testing.B) {
	q := NewQuantiles(90)
	b.ReportAllocs()
	for i := range b.N {
		q.Add(time.Duration(i%97) * time.Millisecond)
	}
}
