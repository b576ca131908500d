package chance

import "math/bits"

// Whole is the number of places that Place tells apart: a share is counted in
// millionths.
const Whole = 1_000_000

// A Salt keeps one use of hashing apart from every other, so that who is in one
// share of all keys is not for that reason in another.
type Salt uint64

// Place returns where a key stands among all keys: evenly in 0 .. Whole-1, and
// always the same for the same salt. Who is below a threshold is below every
// larger one, so that shares of a salt are stable and nested.
func Place(salt Salt, key uint64) int {
	hi, _ := bits.Mul64(Mix(uint64(salt)+Mix(key)), Whole)
	return int(hi)
}

// Key returns a text as a key, never 0: FNV-1a (Fowler, Noll and Vo), whose
// weak upper bits are mixed. It takes about a nanosecond a byte and does not
// resist whoever looks for two texts with one key.
func Key(text string) uint64 {
	h := uint64(14695981039346656037)
	for i := range len(text) {
		h = (h ^ uint64(text[i])) * 1099511628211
	}
	return max(Mix(h), 1)
}
