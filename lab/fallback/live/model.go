package live

import (
	"math"
	"strconv"
)

// features are the six numbers that the store knows of a customer when a request is
// made.
type features [6]float64

// customers make the requests in turn.
const customers = 1000

// customerOf is who makes a request; requests of the warm-up have numbers below 0.
func customerOf(n int64) int64 { return (n%customers + customers) % customers }

// keyOf is under what the customer's last score is known.
func keyOf(n int64) string { return strconv.FormatInt(customerOf(n), 10) }

// featuresOf are drawn anew for each request, so that a last known score is another than
// the present one, and a mix-up shows.
func featuresOf(n int64) (f features) {
	x := uint64(n)
	for i := range f {
		x += 0x9E3779B97F4A7C15 // SplitMix64 (Steele, Lea, Flood 2014)
		z := x
		z = (z ^ z>>30) * 0xBF58476D1CE4E5B9
		z = (z ^ z>>27) * 0x94D049BB133111EB
		f[i] = float64((z^z>>31)>>11) / (1 << 53)
	}
	return f
}

var weights = features{-1.3, 0.4, 2.1, 0.9, -0.7, 0.6}

// base is the score of a customer of whom nothing is known.
const base = 0.234

// score is a logistic regression.
func score(f features) float64 {
	z := -0.7
	for i, w := range weights {
		z += w * f[i]
	}
	return 1 / (1 + math.Exp(-z))
}
