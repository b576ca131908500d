package plan

import (
	"math"
	"time"
)

// The formulas, one function each. Rates are per second, times that come back
// are seconds. An argument that is negative, NaN or infinite counts as zero where
// nothing else is said. NaN as a result means "cannot be known from this", +Inf
// "without limit" or "never".

// ServicePart is one part of a service-time mix: Weight (any scale, they are
// normalised by their sum) of the calls take Time.
type ServicePart struct {
	Weight float64
	Time   time.Duration
}

// Constant is the mix of a service that always takes d.
func Constant(d time.Duration) []ServicePart { return []ServicePart{{Weight: 1, Time: d}} }

// MeanService is the weighted mean of a mix, to the nanosecond; 0 if nothing has
// a weight and a time. Parts that are not finite or not positive are passed over.
func MeanService(mix []ServicePart) time.Duration {
	// Scaled by the largest weight, so that no finite weights overflow the sum.
	scale := 0.0
	for _, p := range mix {
		scale = max(scale, atLeastZero(p.Weight))
	}
	var sum, weights float64
	for _, p := range mix {
		w := atLeastZero(p.Weight)
		if w == 0 || p.Time < 0 {
			continue
		}
		w /= scale
		weights += w
		sum += float64(w * float64(p.Time))
	}
	if weights == 0 {
		return 0
	}
	return duration(sum / weights)
}

// ShareOver is the share of a mix that takes longer than d, 0 to 1; NaN for a mix
// without weight.
func ShareOver(mix []ServicePart, d time.Duration) float64 {
	scale := 0.0
	for _, p := range mix {
		scale = max(scale, atLeastZero(p.Weight))
	}
	var over, all float64
	for _, p := range mix {
		w := atLeastZero(p.Weight)
		if w == 0 {
			continue
		}
		w /= scale
		all += w
		if p.Time > d {
			over += w
		}
	}
	return ratio(over, all)
}

// Throughput is slots / holding: what slots finish per second when each is held
// that long and none is idle. 0 for no slots, NaN for an unknown holding time.
func Throughput(slots int64, holding time.Duration) float64 {
	switch {
	case slots <= 0:
		return 0
	case holding <= 0:
		return math.NaN()
	}
	return float64(slots) * 1e9 / float64(holding)
}

// SlotsFor is the least number of slots that sustain rate: ceil(rate x holding),
// at least 0. It saturates at MaxInt64.
func SlotsFor(rate float64, holding time.Duration) int64 {
	need := InSystem(rate, holding)
	// Rates are often quotients, so a product that misses its whole number by
	// rounding alone must not cost a slot.
	if near := math.Round(need); math.Abs(need-near) <= near*1e-9 {
		need = near
	}
	return whole(math.Ceil(need))
}

// InSystem is Little's law, L = lambda x W: how many are inside on average when
// rate arrive and each stays for stay. It needs a stable regime and holds then
// for any distribution and order; it says nothing of tails or fairness.
func InSystem(rate float64, stay time.Duration) float64 {
	return float64(atLeastZero(rate) * max(0, stay.Seconds()))
}

// TimeInSystem is Little's law turned round, W = L / lambda, in seconds: +Inf if
// some are inside and none arrive, NaN for nobody inside and none arriving.
func TimeInSystem(inside, rate float64) float64 {
	return ratio(atLeastZero(inside), atLeastZero(rate))
}

// BacklogGrowth is by how much a backlog grows each second, rate - throughput, 0
// if it does not. NaN where the throughput is not known.
func BacklogGrowth(rate, throughput float64) float64 {
	if math.IsNaN(throughput) {
		return math.NaN()
	}
	if math.IsInf(throughput, 1) {
		return 0
	}
	return max(0, atLeastZero(rate)-max(0, throughput))
}

// FillTime is how many seconds an empty room of bound lasts against sustained
// arrivals: bound / growth. +Inf if the backlog does not grow. A burst that ends
// earlier can drain instead.
func FillTime(bound int, rate, throughput float64) float64 {
	growth := BacklogGrowth(rate, throughput)
	switch {
	case math.IsNaN(growth):
		return growth
	case growth == 0:
		return math.Inf(1)
	}
	return float64(max(0, bound)) / growth
}

// DrainTime is how many seconds the last of a full room waits: bound /
// throughput. +Inf for a room that nothing drains, 0 for no room.
func DrainTime(bound int, throughput float64) float64 {
	switch {
	case math.IsNaN(throughput):
		return throughput
	case bound <= 0:
		return 0
	}
	return ratio(float64(bound), atLeastZero(throughput))
}

// Share is what a tenant of this weight gets of a throughput while all tenants,
// whose weights sum to total, are backlogged; NaN for a total of zero.
func Share(throughput float64, weight, total int64) float64 {
	if total <= 0 || math.IsNaN(throughput) {
		return math.NaN()
	}
	return float64(max(0, throughput) * (float64(max(0, weight)) / float64(total)))
}

// Amplification is how many calls one request can become at the bottom when
// every layer tries this often: the product of the attempts. A layer of less
// than one attempt counts as one. It may reach +Inf.
func Amplification(attempts ...int) float64 {
	calls := 1.0
	for _, a := range attempts {
		calls = float64(calls * float64(max(1, a)))
	}
	return calls
}

// SustainedAttempts is the calls a request becomes on average when everything
// fails: attempts, but with a retry budget no more than 1 + budget (0.1 is 10 %).
// budgetOff ignores the budget. The budget's small floor, which lets the first
// few retries through at once, is not counted: it does not grow with the load.
func SustainedAttempts(attempts int, budget float64, budgetOff bool) float64 {
	a := float64(max(1, attempts))
	if budgetOff || math.IsInf(budget, 1) {
		return a
	}
	return min(a, 1+atLeastZero(budget))
}

// StableBelow is the request rate below which an upstream returns by itself after
// any trigger: sustainable / sustained attempts. Between it and sustainable it is
// metastable.
func StableBelow(sustainable, sustainedAttempts float64) float64 {
	return sustainable / max(1, sustainedAttempts)
}

// atLeastZero makes hostile numbers harmless: NaN, negative and infinite are 0.
func atLeastZero(x float64) float64 {
	if x > 0 && !math.IsInf(x, 1) {
		return x
	}
	return 0
}

// ratio is a / b for a, b >= 0: 0/0 is NaN, anything else over 0 is +Inf.
func ratio(a, b float64) float64 {
	if b == 0 {
		if a == 0 {
			return math.NaN()
		}
		return math.Inf(1)
	}
	return a / b
}

// whole converts to an integer >= 0, saturating; NaN is 0.
func whole(x float64) int64 {
	switch {
	case !(x > 0):
		return 0
	case x >= math.MaxInt64: // the constant rounds up to 2^63, which does not fit
		return math.MaxInt64
	}
	return int64(x)
}

// duration converts nanoseconds to a Duration >= 0, rounded and saturating.
func duration(ns float64) time.Duration { return time.Duration(whole(math.Round(ns))) }
