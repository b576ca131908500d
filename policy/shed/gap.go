package shed

// Gap is how much worse the best cheaper answer is than the primary's for one
// request, in millionths: 0 is just as good, [Useless] worth nothing. Whatever
// lies outside counts as the nearer end.
//
// The zero Gap is that of a request of which nothing is known: where no request
// has one, all are alike, and sessions alone decide who is shed.
type Gap int32

// Useless is the largest gap.
const Useless Gap = 1_000_000

// Buckets is how many buckets of gaps are told apart: few enough for a look over
// all of them to cost nothing, and so many that two gaps in one bucket differ by
// at most 0.016.
const Buckets = 64

// Bucket returns which bucket the gap lies in, 0 .. Buckets-1: that of 0 is 0, and
// a larger gap is in no lower bucket.
func (g Gap) Bucket() int {
	return int(int64(min(max(g, 0), Useless)) * (Buckets - 1) / int64(Useless))
}

// LeastGap returns the smallest gap of a bucket.
func LeastGap(bucket int) Gap {
	b := int64(min(max(bucket, 0), Buckets-1))
	return Gap((b*int64(Useless) + Buckets - 2) / (Buckets - 1))
}

// GapOf returns a share as a gap, rounded to the nearest; what is no number is
// Useless, so that nobody is shed because a measurement failed.
func GapOf(share float64) Gap {
	switch {
	case share <= 0:
		return 0
	case share < 1:
		return Gap(float64(share*float64(Useless)) + 0.5)
	}
	return Useless
}
