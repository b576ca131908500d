package portable_test

import (
	"math"
	"testing"

	"github.com/spillway-dev/spillway/workload/dice/portable"
	"pgregory.net/rapid"
)

// Below it math.Log is wrong on amd64: it says -709 for 5e-324.
const smallestNormal = 0x1p-1022

// Package math is the oracle: it is right to the last bit or the one beside it.
func within(t interface {
	Helper()
	Errorf(string, ...any)
}, what string, x, got, want float64) {
	t.Helper()
	if got == want || (got != got && want != want) {
		return
	}
	if ulp := math.Abs(math.Nextafter(want, math.Inf(1)) - want); math.Abs(got-want) > 2*ulp {
		t.Errorf("%s(%v) = %v, want %v", what, x, got, want)
	}
}

func TestLogAndExpAreWithinTwoUnitsOfTheTruth(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := rapid.Float64().Draw(t, "x")
		within(t, "Exp", x, portable.Exp(x), math.Exp(x))
		if math.Abs(x) >= smallestNormal || x == 0 {
			within(t, "Log", x, portable.Log(x), math.Log(x))
		}
		y := rapid.Float64Range(-745, 709).Draw(t, "y")
		within(t, "Exp", y, portable.Exp(y), math.Exp(y))
		z := rapid.Float64Range(0.5, 2).Draw(t, "z")
		within(t, "Log", z, portable.Log(z), math.Log(z))
	})
}

func TestEdges(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	for _, x := range []float64{0, 1, -1, nan, inf, -inf, math.MaxFloat64, 709.78, 709.79, -708.4, -745.1, -745.2, math.E, math.Sqrt2 / 2} {
		within(t, "Exp", x, portable.Exp(x), math.Exp(x))
		within(t, "Log", x, portable.Log(x), math.Log(x))
	}
}

func TestLogOfSubnormals(t *testing.T) {
	for _, c := range []struct{ x, want float64 }{
		{5e-324, -744.4400719213812},
		{0x1p-1050, -727.8045395879426},
	} {
		within(t, "Log", c.x, portable.Log(c.x), c.want)
	}
}

func BenchmarkExp(b *testing.B) {
	x, sum := 0.0, 0.0
	for b.Loop() {
		x += 1e-3
		sum += portable.Exp(-x)
	}
	_ = sum
}

func BenchmarkLog(b *testing.B) {
	x, sum := 1.0, 0.0
	for b.Loop() {
		x += 1e-3
		sum += portable.Log(x)
	}
	_ = sum
}
