package dice

import "math/bits"

// Dice is a generator of random numbers. Its zero value is not usable: make one
// with New or At. A copy draws the same numbers as the original.
type Dice struct {
	s0, s1, s2, s3 uint64 // the state of xoshiro256++, never all zero
	origin         uint64 // what the dice were made from, for At
}

// New returns the dice of one stream of a run. Streams of different names, and
// equal streams of different seeds, are independent.
func New(seed uint64, stream string) *Dice {
	const fnvOffset, fnvPrime = 14695981039346656037, 1099511628211
	h := uint64(fnvOffset)
	for i := range len(stream) {
		h = (h ^ uint64(stream[i])) * fnvPrime
	}
	d := from(mix(mix(seed) ^ h))
	return &d
}

// At returns the dice that belong to the key (a, b), such as a request's number
// and the attempt, within d's stream. They do not depend on what was drawn
// from d, and d does not change. Cost about 5 ns.
func (d *Dice) At(a, b uint64) Dice {
	return from(mix(mix(d.origin^mix(a)) + b))
}

func from(origin uint64) Dice {
	const step = 0x9e3779b97f4a7c15 // SplitMix64's: 2^64 / golden ratio
	d, z := Dice{origin: origin}, origin
	for _, s := range []*uint64{&d.s0, &d.s1, &d.s2, &d.s3} {
		z += step
		*s = mix(z)
	}
	return d
}

// mix is SplitMix64's output function, a bijection.
func mix(z uint64) uint64 {
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// Uint64 returns 64 random bits.
func (d *Dice) Uint64() uint64 {
	r := bits.RotateLeft64(d.s0+d.s3, 23) + d.s0
	t := d.s1 << 17
	d.s2 ^= d.s0
	d.s3 ^= d.s1
	d.s1 ^= d.s2
	d.s0 ^= d.s3
	d.s2 ^= t
	d.s3 = bits.RotateLeft64(d.s3, 45)
	return r
}

// Intn returns a uniform integer in [0, n). It panics if n <= 0.
//
// Multiplication instead of a remainder, without bias: Lemire, "Fast Random
// Integer Generation in an Interval" (2019).
func (d *Dice) Intn(n int) int {
	if n <= 0 {
		panic("BUG: dice.Intn of a number below 1")
	}
	m := uint64(n)
	hi, lo := bits.Mul64(d.Uint64(), m)
	if lo < m {
		for threshold := -m % m; lo < threshold; {
			hi, lo = bits.Mul64(d.Uint64(), m)
		}
	}
	return int(hi)
}

// Float64 returns a uniform multiple of 2^-53 in [0, 1).
func (d *Dice) Float64() float64 {
	return float64(d.Uint64()>>11) * 0x1p-53
}

// Bool returns true with probability p, and draws one number whatever p is.
func (d *Dice) Bool(p float64) bool {
	return d.Float64() < p
}

// Shuffle puts n things in a random order (Fisher and Yates) by calling swap.
func (d *Dice) Shuffle(n int, swap func(i, j int)) {
	for i := n - 1; i > 0; i-- {
		swap(i, d.Intn(i+1))
	}
}
