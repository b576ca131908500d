package chance

import "math/bits"

// Source is a splitmix64 generator (Steele, Lea and Flood, OOPSLA 2014): one
// addition and two multiplications a draw, full period, every seed good. It
// serves jitter, not cryptography.
type Source struct{ state uint64 }

// New returns a source whose draws are determined by seed.
func New(seed uint64) Source { return Source{state: seed} }

// Uint64 returns the next draw.
func (s *Source) Uint64() uint64 {
	s.state += 0x9e3779b97f4a7c15
	return Mix(s.state)
}

// Below returns a draw in 0 .. n-1, and 0 for n <= 0. The bias of the
// multiplication method is under n/2^64 and of no consequence for jitter.
func (s *Source) Below(n int64) int64 {
	if n <= 0 {
		return 0
	}
	hi, _ := bits.Mul64(s.Uint64(), uint64(n))
	return int64(hi)
}

// Mix is splitmix64's finalizer: a bijection that turns a counter or a key
// into bits without structure.
func Mix(z uint64) uint64 {
	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9
	z = (z ^ (z >> 27)) * 0x94d049bb133111eb
	return z ^ (z >> 31)
}
