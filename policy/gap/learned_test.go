package gap_test

import (
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/spillway-dev/spillway/policy/chance"
	"github.com/spillway-dev/spillway/policy/gap"
	"github.com/spillway-dev/spillway/policy/shed"
	"github.com/spillway-dev/spillway/policy/unit"
)

// estimate returns what is known of a bucket.
func estimate(t interface{ Fatalf(string, ...any) }, l *gap.Learner, now unit.Instant, bucket string) gap.Estimate {
	all, _ := l.Estimates(now)
	i := slices.IndexFunc(all, func(e gap.Estimate) bool { return e.Bucket == bucket })
	if i < 0 {
		t.Fatalf("there is no bucket %q", bucket)
	}
	return all[i]
}

// With n samples of which k were useless the bounds are Wilson's: the figures are
// those of table I of Newcombe, Statistics in Medicine 17, 1998 (method 3).
func TestBoundsAreThoseOfWilson(t *testing.T) {
	for _, c := range []struct {
		k, n         int
		lower, upper float64
	}{{81, 263, 0.2553, 0.3662}, {15, 148, 0.0624, 0.1605}, {0, 20, 0, 0.1611}, {1, 29, 0.0061, 0.1718}} {
		l := gap.NewLearner(gap.Rule{Enough: 1})
		for i := range c.n {
			d := shed.Gap(0)
			if i < c.k {
				d = shed.Useless
			}
			l.Record(0, "b", d)
		}
		e := estimate(t, l, 0, "b")
		if math.Abs(e.Lower-c.lower) > 1e-4 || math.Abs(e.Upper-c.upper) > 1e-4 || math.Abs(e.Mean-float64(c.k)/float64(c.n)) > 1e-9 {
			t.Errorf("%d of %d: %.4f (%.4f to %.4f), want %.4f to %.4f", c.k, c.n, e.Mean, e.Lower, e.Upper, c.lower, c.upper)
		}
	}
}

func TestUntilThereIsEnoughNothingIsKnown(t *testing.T) {
	l := gap.NewLearner(gap.Rule{})
	for i := range gap.EnoughDefault {
		if known := l.Known(0); len(known) != 0 {
			t.Fatalf("after %d samples it is known: %v", i, known)
		}
		l.Record(0, "b", 0)
	}
	if g, ok := l.Known(0)["b"]; !ok || g == 0 {
		t.Errorf("after %d it has %d (%v); want its upper bound, which is not 0", gap.EnoughDefault, g, ok)
	}
}

// Two buckets of which the cheaper answer loses as much: the one of which less is
// known is shed later.
func TestTheUncertainIsNotShedFirst(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := gap.NewLearner(gap.Rule{})
		one := shed.Gap(rapid.IntRange(0, int(shed.Useless)).Draw(t, "distance"))
		few := rapid.IntRange(gap.EnoughDefault, 300).Draw(t, "few")
		for i := range few * 20 {
			if l.Record(0, "often", one); i < few {
				l.Record(0, "seldom", one)
			}
		}
		known := l.Known(0)
		if known["seldom"] < known["often"] || known["often"] < one-10_000 {
			t.Fatalf("distance %d: seldom %d, often %d", one, known["seldom"], known["often"])
		}
	})
}

func TestOldSamplesCountLessAndInTheEndNothing(t *testing.T) {
	l := gap.NewLearner(gap.Rule{HalfLife: time.Hour})
	now := unit.Instant(0)
	for range 400 {
		l.Record(now, "b", 100_000)
	}
	before := estimate(t, l, now, "b")
	now = now.Add(time.Hour)
	after := estimate(t, l, now, "b")
	if math.Abs(after.Samples-200) > 0.01 || math.Abs(after.Mean-before.Mean) > 1e-9 || after.Upper <= before.Upper {
		t.Errorf("after an hour %+v, before %+v; want half the samples, the same mean, wider bounds", after, before)
	}
	for range 400 { // the answers have become worse: the new ones count more
		l.Record(now, "b", 700_000)
	}
	if e := estimate(t, l, now, "b"); e.Mean < 0.499 {
		t.Errorf("mean %v of 400 old samples of 0.1 and 400 new of 0.7; want 0.5", e.Mean)
	}
	now = now.Add(10 * time.Hour)
	if known := l.Known(now); len(known) != 0 {
		t.Errorf("ten hours later it is still known: %v", known)
	}
	now = now.Add(1000 * time.Hour)
	if e := estimate(t, l, now, "b"); e.Samples != 0 || e.Upper != 1 {
		t.Errorf("a thousand hours later: %+v", e)
	}
}

// Whatever is recorded and however time goes, figures stay figures.
func TestEstimatesStayInRange(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := gap.NewLearner(gap.Rule{Buckets: rapid.IntRange(1, 4).Draw(t, "buckets")})
		now := unit.Instant(0)
		for range rapid.IntRange(1, 200).Draw(t, "records") {
			now = now.Add(time.Duration(rapid.Int64Range(-int64(time.Hour), int64(100*time.Hour)).Draw(t, "dt")))
			l.Record(now, rapid.SampledFrom([]string{"a", "b", "c", "d", "e", "f"}).Draw(t, "bucket"), shed.Gap(rapid.Int32().Draw(t, "distance")))
			all, _ := l.Estimates(now)
			if len(all) > 4 {
				t.Fatalf("%d buckets", len(all))
			}
			for _, e := range all {
				if !(0 <= e.Lower && e.Lower <= e.Mean+1e-9 && e.Mean <= e.Upper+1e-9 && e.Upper <= 1 && e.Samples >= 0) || e.Gap < 0 || e.Gap > shed.Useless {
					t.Fatalf("%+v", e)
				}
			}
		}
	})
}

// A caller who makes up a text for each request takes no place from those that are
// seen all the time, and memory does not grow.
func TestAFloodOfTextsPushesNobodyOutThatIsSeenOften(t *testing.T) {
	l := gap.NewLearner(gap.Rule{Buckets: 8})
	dice := chance.New(1)
	for i := range 100_000 {
		name := fmt.Sprint("made up ", i)
		if n := dice.Below(20); n < 5 { // each of five has a twentieth of the samples, but all made up ones have fifteen
			name = fmt.Sprint("real ", n)
		}
		l.Record(unit.Instant(i)*1e6, name, 0)
	}
	known := l.Known(1e11)
	if len(known) > 8 {
		t.Fatalf("%d buckets", len(known))
	}
	if _, outside := l.Estimates(1e11); outside == 0 {
		t.Error("nothing is said to have had no place")
	}
	t.Log(known)
	// Fewer than one in nine each: no promise. With one in five each there is one.
	for i := range 20_000 {
		name := fmt.Sprint("made up ", i)
		if n := dice.Below(20); n < 8 {
			name = fmt.Sprint("real ", n%2)
		}
		l.Record(1e11, name, 0)
	}
	for n := range 2 {
		if g, ok := l.Known(1e11)[fmt.Sprint("real ", n)]; !ok {
			t.Errorf("real %d, a fifth of the samples, is not known (%d)", n, g)
		}
	}
}

func TestAFallingBoundMovesTheGapInSteps(t *testing.T) {
	l := gap.NewLearner(gap.Rule{})
	moves, last := 0, shed.Gap(-1)
	for range 10_000 {
		l.Record(0, "b", 300_000)
		if g := l.Known(0)["b"]; g != last {
			moves, last = moves+1, g
		}
	}
	if moves < 3 || moves > 40 {
		t.Errorf("the gap moved %d times in 10,000 samples of one distance; want a few", moves)
	}
	if last > 320_000 || last < 300_000 {
		t.Errorf("it came to %d, want a little above 300,000", last)
	}
}

func TestWhatIsHandedOnIsKnownThere(t *testing.T) {
	a := gap.NewLearner(gap.Rule{})
	for i := range 100 {
		a.Record(5, fmt.Sprint("b", i%3), shed.Gap(i*10_000))
	}
	b := gap.NewLearner(gap.Rule{})
	b.Record(0, "b1", 0) // is known there already, and stays
	b.Import(77, a.Export(5))
	for _, name := range []string{"b0", "b2"} {
		was, is := estimate(t, a, 5, name), estimate(t, b, 77, name)
		if was.Samples != is.Samples || was.Mean != is.Mean || !is.Known {
			t.Errorf("%s is %+v, was %+v", name, is, was)
		}
	}
	if e := estimate(t, b, 77, "b1"); e.Samples != 1 {
		t.Errorf("b1 is %+v", e)
	}
	b.Import(77, []gap.State{{Bucket: "x", Weight: math.NaN()}, {Bucket: "y", Weight: 1, Squares: 1, Sum: 2}, {Bucket: "z", Weight: -1}, {Bucket: "w", Weight: 1, Squares: 1, Credit: -1}})
	if all, _ := b.Estimates(77); len(all) != 3 {
		t.Errorf("what makes no sense was taken in: %+v", all)
	}
}

func TestALowerBoundOnBucketsForgetsThoseSeenLeast(t *testing.T) {
	l := gap.NewLearner(gap.Rule{Buckets: 10})
	for i := range 10 {
		for range 40 + i {
			l.Record(0, fmt.Sprint("b", i), 0)
		}
	}
	l.Reconfigure(gap.Rule{Buckets: 3})
	known := l.Known(0)
	for _, name := range []string{"b7", "b8", "b9"} {
		if _, ok := known[name]; !ok || len(known) != 3 {
			t.Fatalf("left are %v, want b7, b8, b9", known)
		}
	}
	l.Record(0, "b9", 0)
	if e := estimate(t, l, 0, "b9"); e.Samples != 50 {
		t.Errorf("b9 has %v samples, want 50", e.Samples)
	}
}

func TestSamplesAreAsManyAsSaid(t *testing.T) {
	for _, share := range []int{0, 10_000, 500_000, 1_000_000} {
		hits := 0
		for n := range uint64(100_000) {
			if gap.Sampled(7, n, share) {
				hits++
			}
		}
		if want := share / 10; math.Abs(float64(hits-want)) > 4*math.Sqrt(float64(want))+1 {
			t.Errorf("%d of 100,000 at %d millionths", hits, share)
		}
	}
}

func TestOnlySpareCapacityIsLearnedWith(t *testing.T) {
	idle := gap.Load{Slots: 10, Used: 4}
	for _, c := range []struct {
		say           string
		class, rung   gap.Load
		running, most int
		want          bool
	}{
		{"both have room", idle, idle, 0, 1, true},
		{"the rung answers from memory", idle, gap.Load{}, 0, 1, true},
		{"as many run as may", idle, idle, 1, 1, false},
		{"none may", idle, idle, 0, 0, false},
		{"half of the class is busy", gap.Load{Slots: 10, Used: 5}, idle, 0, 1, false},
		{"half of the rung is busy", idle, gap.Load{Slots: 10, Used: 5}, 0, 1, false},
		{"somebody waits in the class", gap.Load{Slots: 10, Used: 1, Waiting: 1}, idle, 0, 1, false},
		{"somebody waits for the rung", idle, gap.Load{Slots: 10, Waiting: 1}, 0, 1, false},
		{"one slot, free", gap.Load{Slots: 1}, idle, 0, 1, true},
		{"one slot, held", gap.Load{Slots: 1, Used: 1}, idle, 0, 1, false},
		{"no slots at all, but somebody waits", gap.Load{Waiting: 1}, idle, 0, 1, false},
	} {
		if got := gap.Spare(c.class, c.rung, c.running, c.most); got != c.want {
			t.Errorf("%s: %v, want %v", c.say, got, c.want)
		}
	}
}
