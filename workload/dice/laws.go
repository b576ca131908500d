package dice

import (
	"fmt"
	"math"

	"github.com/spillway-dev/spillway/workload/dice/portable"
)

// Exp returns a number of the exponential law with mean 1.
func (d *Dice) Exp() float64 {
	beyond := 0.0
	for {
		u := d.Uint64()
		i, j := u&255, u>>11 // bits 0-7 and 11-63: disjoint, so independent
		x := float64(float64(j) * expWidth[i])
		if j < expAccept[i] {
			return beyond + x
		}
		if i == 0 { // the law has no memory: its tail is the law again, further out
			beyond += expEdge
			continue
		}
		y := expHeight[i] + float64(d.Float64()*(expHeight[i-1]-expHeight[i]))
		if y < portable.Exp(-x) {
			return beyond + x
		}
	}
}

// Norm returns a number of the normal law with mean 0 and standard deviation 1.
func (d *Dice) Norm() float64 {
	for {
		u := d.Uint64()
		i, j := u&255, u>>11
		sign := u << 55 & (1 << 63) // bit 8
		x := float64(float64(j) * normWidth[i])
		if j < normAccept[i] {
			return signed(x, sign)
		}
		if i == 0 {
			return signed(d.normTail(), sign)
		}
		y := normHeight[i] + float64(d.Float64()*(normHeight[i-1]-normHeight[i]))
		if y < portable.Exp(-float64(float64(x*x)*0.5)) {
			return signed(x, sign)
		}
	}
}

// normTail draws from beyond normEdge: Marsaglia, "Generating a Variable from
// the Tail of the Normal Distribution" (1964), its two logarithms of uniforms
// being exponentials.
func (d *Dice) normTail() float64 {
	for {
		x := d.Exp() / normEdge
		if y := d.Exp(); y+y >= float64(x*x) {
			return normEdge + x
		}
	}
}

func signed(x float64, sign uint64) float64 {
	return math.Float64frombits(math.Float64bits(x) | sign)
}

// LogNormal returns e^(mu + sigma N) with N of the standard normal law.
func (d *Dice) LogNormal(mu, sigma float64) float64 {
	return portable.Exp(mu + float64(sigma*d.Norm()))
}

// z99 is the 99th percentile of the standard normal law.
const z99 = 2.3263478740408408

// LogNormalOf returns the parameters of the log-normal law that has this mean
// and this 99th percentile, in any one unit. The law reaches no p99 above
// about 15 times its mean, and a p99 below the mean would not be a tail: both
// are errors, as are numbers that are not positive and finite.
//
//	p99 = e^(mu + z sigma), mean = e^(mu + sigma^2/2)  =>
//	sigma = z - sqrt(z^2 - 2 ln(p99/mean))
func LogNormalOf(mean, p99 float64) (mu, sigma float64, err error) {
	if !(mean > 0 && p99 >= mean && p99 <= math.MaxFloat64) {
		return 0, 0, fmt.Errorf("a log-normal law needs 0 < mean <= p99, have mean %v and p99 %v", mean, p99)
	}
	tail := portable.Log(p99 / mean)
	square := float64(z99*z99) - (tail + tail)
	if square < 0 {
		return 0, 0, fmt.Errorf("no log-normal law has a p99 of %.4g times its mean: the most is 14.97", p99/mean)
	}
	sigma = z99 - math.Sqrt(square)
	return portable.Log(mean) - float64(float64(sigma*sigma)*0.5), sigma, nil
}
