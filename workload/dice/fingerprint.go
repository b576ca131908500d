package dice

import (
	"math"

	"github.com/spillway-dev/spillway/workload/dice/portable"
)

// Fingerprint draws n numbers of every kind and returns a hash of all their
// bits. Two builds that disagree in it must not claim to repeat each other's
// runs; `spillway version` can print it. Cost about 100 ns a round.
func Fingerprint(seed uint64, n int) uint64 {
	d := New(seed, "fingerprint")
	h := seed
	add := func(x float64) { h = mix(h ^ math.Float64bits(x)) }
	for i := range n {
		h = mix(h ^ d.Uint64())
		h = mix(h ^ uint64(d.Intn(i+1)))
		add(d.Float64())
		add(d.Exp())
		add(d.Norm())
		add(d.LogNormal(-2.3, 0.6))
		add(portable.Log(d.Float64()))
		at := d.At(uint64(i), 1)
		add(at.Exp())
	}
	return h
}
