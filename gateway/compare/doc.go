// Package compare says how far a cheaper answer is from the primary's: the distance
// that a learned gap is learned from.
//
//	h := compare.New(class.Gap.Learned.Compare)
//	distance, ok := h.Distance(primary, other)
//
// A distance is a gap: 0 where the two are as good, [shed.Useless] where the cheaper
// one is worth nothing. Where the primary's answer is none that can be compared in
// that way (no JSON, no such value in it, a coding that is not known) there is no
// distance; where only the other's is not, the other is useless.
//
// Both bodies are what services send, and are trusted with nothing: what they may take
// is bounded by the caller, what they unpack to by [UnpackedMost], and neither numbers
// nor nesting make it slow. Everything here is safe for concurrent use.
package compare
