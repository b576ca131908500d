package plan

import (
	"math"
	"math/bits"
	"time"
)

// MaxBound is the most that [Bound] ever answers, in requests. An entry of a
// waiting room costs some hundred bytes without its body, so this many cost
// about 100 MiB. Raising it buys no latency: who stands behind a million others
// is not answered in time by any service that needs a waiting room.
const MaxBound = 1 << 20

// BoundFrom says which rule gave a bound its value.
type BoundFrom uint8

const (
	// FromLatencyBudget: allowed wait x throughput.
	FromLatencyBudget BoundFrom = iota
	// FromMemory: what the latency budget or the operator asked for does not fit into memory.
	FromMemory
	// FromConfigured: the operator named the number.
	FromConfigured
	// FromMinimum: some wait is allowed, yet less than one request fits; one may wait.
	FromMinimum
	// FromMaximum: [MaxBound].
	FromMaximum
)

var boundFromText = [...]string{"latency budget", "memory", "configured", "minimum", "maximum"}

// String is the word used in reports and JSON.
func (f BoundFrom) String() string {
	if int(f) < len(boundFromText) {
		return boundFromText[f]
	}
	return "unknown"
}

// BoundInput is what a waiting room's size is derived from.
type BoundInput struct {
	// AllowedWait is how long a request may wait and still meet its budget,
	// latency - service (see [AllowedWait]). Zero or less: nobody may wait, a
	// request runs at once or is turned away.
	AllowedWait time.Duration

	// Slots and Holding are the throughput: Slots requests every Holding, the
	// mean time one of them holds its slot. Any count over any span will do.
	// Slots <= 0 is a throughput of zero. Holding <= 0 means not measured yet:
	// time sets no bound then, memory alone does.
	Slots   int64
	Holding time.Duration

	// MemoryLimit and PerRequest, in bytes, are what the room may retain and
	// the worst case of one request. Either <= 0: not given, no cut.
	MemoryLimit int64
	PerRequest  int64

	// Configured > 0 replaces the derived number, not the cut to memory.
	Configured int64
}

// Bound is the number of requests that may wait at once, and why:
//
//	n = floor(AllowedWait x Slots / Holding)     or Configured
//	n = min(n, floor(MemoryLimit / PerRequest), MaxBound)
//	n = max(n, 1)                                unless no wait is allowed
//
// It is 0 exactly if AllowedWait <= 0 and nothing is configured. On a tie the
// reason is the rule named first above: memory is blamed only for a real cut.
//
// The bound never falls when allowed wait, slots or a given memory limit rise,
// nor when holding time or bytes per request fall. Integer arithmetic with a
// 128-bit product: no overflow for any input, no panic, no allocation, about ten
// nanoseconds (two divisions).
func Bound(in BoundInput) (n int, from BoundFrom) {
	var want int64
	switch {
	case in.Configured > 0:
		want, from = in.Configured, FromConfigured
	case in.AllowedWait <= 0:
		return 0, FromLatencyBudget
	default:
		want, from = servedWithin(in.AllowedWait, in.Slots, in.Holding), FromLatencyBudget
	}
	if in.MemoryLimit > 0 && in.PerRequest > 0 {
		if fits := in.MemoryLimit / in.PerRequest; fits < want {
			want, from = fits, FromMemory
		}
	}
	if want > MaxBound {
		return MaxBound, FromMaximum
	}
	if want < 1 {
		return 1, FromMinimum
	}
	return int(want), from
}

// AllowedWait is latency - service, never negative and without overflow: what a
// latency budget leaves for waiting. A negative service counts as zero.
func AllowedWait(latency, service time.Duration) time.Duration {
	return max(0, max(0, latency)-max(0, service))
}

// servedWithin is how many requests slots finish in d, rounded down, at most
// MaxInt64; MaxInt64 also where the holding time is not known. d must be > 0.
func servedWithin(d time.Duration, slots int64, holding time.Duration) int64 {
	if slots <= 0 {
		return 0
	}
	if holding <= 0 {
		return math.MaxInt64
	}
	hi, lo := bits.Mul64(uint64(d), uint64(slots))
	if hi >= uint64(holding) {
		return math.MaxInt64
	}
	q, _ := bits.Div64(hi, lo, uint64(holding))
	return int64(min(q, math.MaxInt64))
}
