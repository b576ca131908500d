package portable

import "math"

// ln2 is split so that k*ln2Hi is exact for every |k| < 2^20: the last 21 bits
// of ln2Hi are zero.
const (
	ln2Hi = 0x1.62e42fefp-01
	ln2Lo = 0x1.473de6af278edp-34
)

// atanh holds the series below from its last but one term to its second.
var atanh = [...]float64{1.0 / 21, 1.0 / 19, 1.0 / 17, 1.0 / 15, 1.0 / 13, 1.0 / 11, 1.0 / 9, 1.0 / 7, 1.0 / 5, 1.0 / 3}

// Log returns the natural logarithm of x: -Inf at 0, NaN below, +Inf at +Inf.
// Cost about 15 ns.
//
// With x = m * 2^k and m in [sqrt(1/2), sqrt(2)), the series is
//
//	log m = 2 atanh s = 2s (1 + s^2/3 + s^4/5 + ...),  s = (m-1)/(m+1)
//
// where |s| <= 0.172, so that twelve terms reach the last bit.
func Log(x float64) float64 {
	switch {
	case x != x || x < 0:
		return math.NaN()
	case x == 0:
		return math.Inf(-1)
	case x > math.MaxFloat64:
		return x
	}
	m, k := math.Frexp(x) // integer work on the bits: exact everywhere
	if m < math.Sqrt2/2 {
		m *= 2
		k--
	}
	s := (m - 1) / (m + 1)
	z := float64(s * s)
	p := 1.0 / 23
	for _, c := range atanh {
		p = c + float64(z*p)
	}
	p = float64(z * p)
	s2 := 2 * s
	hi := float64(float64(k) * ln2Hi)
	lo := float64(float64(k) * ln2Lo)
	return hi + (s2 + (float64(s2*p) + lo))
}

// Exp returns e to the power of x: 0 below -745.2, +Inf above 709.8. Cost about
// 5 ns.
//
// With x = (64k + j) ln2/64 + r and |r| <= ln2/128,
//
//	e^x = 2^k * 2^(j/64) * (1 + r + r^2/2 + ... + r^5/120).
func Exp(x float64) float64 {
	switch {
	case x != x:
		return x
	case x > 709.782712893384:
		return math.Inf(1)
	case x < -745.1332191019412:
		return 0
	}
	n := math.Floor(float64(x*(64/math.Ln2)) + 0.5)
	r := (x - float64(n*(ln2Hi/64))) - float64(n*(ln2Lo/64))
	q := float64(r * r)
	p := r + float64(q*(0.5+float64(r*(1.0/6+float64(r*(1.0/24+float64(r*(1.0/120)))))))) // e^r - 1
	i := int64(n)
	t := pow2[i&63]
	return scale(t+float64(t*p), int(i>>6))
}

// scale returns y * 2^k for y in [0.5, 4); in two steps where the result is
// subnormal or 2^k itself would overflow.
func scale(y float64, k int) float64 {
	if k < -1022 {
		y = float64(y * 0x1p-1000)
		k += 1000
	} else if k > 1000 {
		y = float64(y * 0x1p+1000)
		k -= 1000
	}
	return float64(y * math.Float64frombits(uint64(k+1023)<<52))
}
