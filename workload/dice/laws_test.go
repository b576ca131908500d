package dice_test

import (
	"math"
	"slices"
	"testing"

	"github.com/spillway-dev/spillway/workload/dice"
)

// laws are the distributions with what mathematics says of them.
var laws = []struct {
	name           string
	draw           func(*dice.Dice) float64
	cdf            func(float64) float64
	mean, variance float64
	fourth         float64 // fourth central moment, for the error of the variance
}{
	{"uniform", (*dice.Dice).Float64,
		func(x float64) float64 { return x }, 0.5, 1.0 / 12, 1.0 / 80},
	{"exponential", (*dice.Dice).Exp,
		func(x float64) float64 { return -math.Expm1(-x) }, 1, 1, 9},
	{"normal", (*dice.Dice).Norm,
		func(x float64) float64 { return math.Erfc(-x/math.Sqrt2) / 2 }, 0, 1, 3},
	{"lognormal", func(d *dice.Dice) float64 { return d.LogNormal(0, 0.25) },
		func(x float64) float64 { return math.Erfc(-math.Log(x)/0.25/math.Sqrt2) / 2 },
		math.Exp(0.03125), math.Exp(0.0625) * math.Expm1(0.0625), 0.0167},
}

// The bounds are five standard errors wide: the seeds are fixed, so a failure
// is a change of the code, not bad luck.
func TestDrawsHaveTheMomentsOfTheirLaw(t *testing.T) {
	const n = 2_000_000
	for _, law := range laws {
		d := dice.New(7, law.name)
		sum, squares := 0.0, 0.0
		for range n {
			x := law.draw(d) - law.mean
			sum += x
			squares += x * x
		}
		if got, bound := sum/n, 5*math.Sqrt(law.variance/n); math.Abs(got) > bound {
			t.Errorf("%s: mean is off by %g, allowed %g", law.name, got, bound)
		}
		if got, bound := squares/n-law.variance, 5*math.Sqrt((law.fourth-law.variance*law.variance)/n); math.Abs(got) > bound {
			t.Errorf("%s: variance is off by %g, allowed %g", law.name, got, bound)
		}
	}
}

// Kolmogorov and Smirnov: the largest distance between the drawn and the true
// distribution function exceeds 2.0/sqrt(n) with probability 0.0007.
func TestDrawsFollowTheirLaw(t *testing.T) {
	const n = 1_000_000
	for _, law := range laws {
		d := dice.New(3, law.name)
		xs := make([]float64, n)
		for i := range xs {
			xs[i] = law.draw(d)
		}
		slices.Sort(xs)
		worst := 0.0
		for i, x := range xs {
			p := law.cdf(x)
			worst = max(worst, math.Abs(p-float64(i)/n), math.Abs(p-float64(i+1)/n))
		}
		if worst > 2/math.Sqrt(n) {
			t.Errorf("%s: distance %g, allowed %g", law.name, worst, 2/math.Sqrt(n))
		}
	}
}

// The tails come from code of their own, which a million draws barely touch in
// the test above.
func TestTailsHaveTheirShare(t *testing.T) {
	const n = 20_000_000
	d := dice.New(5, "tails")
	var expBeyond, normBeyond, normBelow float64
	for range n {
		if d.Exp() > 9 { // the base layer ends at 7.7
			expBeyond++
		}
		switch x := d.Norm(); { // and at 3.65
		case x > 3.8:
			normBeyond++
		case x < -3.8:
			normBelow++
		}
	}
	for _, tail := range []struct {
		name   string
		got, p float64
	}{
		{"exponential above 9", expBeyond, math.Exp(-9)},
		{"normal above 3.8", normBeyond, math.Erfc(3.8/math.Sqrt2) / 2},
		{"normal below -3.8", normBelow, math.Erfc(3.8/math.Sqrt2) / 2},
	} {
		if want := tail.p * n; math.Abs(tail.got-want) > 5*math.Sqrt(want) {
			t.Errorf("%s: %v draws, expected %.0f", tail.name, tail.got, want)
		}
	}
}

func TestLogNormalOfMeetsMeanAndP99(t *testing.T) {
	for _, c := range []struct{ mean, p99 float64 }{{100, 400}, {100, 100}, {1, 14.9}, {2.5, 3}} {
		mu, sigma, err := dice.LogNormalOf(c.mean, c.p99)
		if err != nil {
			t.Errorf("%v: %v", c, err)
			continue
		}
		mean := math.Exp(mu + sigma*sigma/2)
		p99 := math.Exp(mu + 2.3263478740408408*sigma)
		if math.Abs(mean/c.mean-1) > 1e-12 || math.Abs(p99/c.p99-1) > 1e-12 {
			t.Errorf("%v: mean %v, p99 %v", c, mean, p99)
		}
	}
	for _, c := range []struct{ mean, p99 float64 }{
		{0, 1}, {-1, 1}, {2, 1}, {1, 15}, {math.NaN(), 1}, {1, math.NaN()}, {1, math.Inf(1)}, {math.Inf(1), math.Inf(1)},
	} {
		if _, _, err := dice.LogNormalOf(c.mean, c.p99); err == nil {
			t.Errorf("%v was accepted", c)
		}
	}
}

func BenchmarkExp(b *testing.B)  { benchmark(b, (*dice.Dice).Exp) }
func BenchmarkNorm(b *testing.B) { benchmark(b, (*dice.Dice).Norm) }
func BenchmarkLogNormal(b *testing.B) {
	benchmark(b, func(d *dice.Dice) float64 { return d.LogNormal(0, 1) })
}

func benchmark(b *testing.B, draw func(*dice.Dice) float64) {
	d, sum := dice.New(1, "bench"), 0.0
	b.ReportAllocs()
	for b.Loop() {
		sum += draw(d)
	}
	_ = sum
}
