package plan

import (
	"fmt"
	"math"
	"time"
)

// HoldUpTo is the mean time that a call holds a slot which is free at limit, whether
// the call is done or not: the mean of min(service, limit). A limit of 0 or less cuts
// nothing. Parts are read as in [MeanService].
func HoldUpTo(mix []ServicePart, limit time.Duration) time.Duration {
	if limit <= 0 {
		return MeanService(mix)
	}
	cut := make([]ServicePart, len(mix))
	for i, p := range mix {
		cut[i] = ServicePart{Weight: p.Weight, Time: min(p.Time, limit)}
	}
	return MeanService(cut)
}

// holdOf is what a call of the class holds a slot of the upstream for: stopping asks
// what it were if the upstream stopped at the deadline that travels to it.
func (u *upstream) holdOf(c *class, stopping bool) time.Duration {
	limit := max(0, u.StopsAfter)
	if t := c.limit(); (stopping || u.StopsAtDeadline && c.Call.PassDeadline) && t > 0 && (limit == 0 || t < limit) {
		limit = t
	}
	return HoldUpTo(u.Service, limit)
}

// meanHold is holdOf over the classes, weighted by their expected rates where all have
// one, else the longest of them.
func (u *upstream) meanHold(stopping bool) time.Duration {
	if u.mean <= 0 || len(u.classes) == 0 {
		return u.mean
	}
	var longest time.Duration
	var held, rates float64
	allKnown := true
	for _, c := range u.classes {
		h := u.holdOf(c, stopping)
		longest = max(longest, h)
		held += float64(float64(h) * c.Expect.Rate)
		rates += c.Expect.Rate
		allKnown = allKnown && c.Expect.Rate > 0
	}
	if allKnown && len(u.classes) > 1 && !math.IsInf(held, 1) {
		return duration(held / rates)
	}
	return longest
}

// planHold says what passing the deadline down changes.
func (u *upstream) planHold(out *UpstreamPlan, fs *figures, attempts float64) {
	none := Number(math.NaN())
	out.StoppingPerS, out.StoppingStablePerS = none, none
	stopping := u.meanHold(true)
	if u.Slots == 0 || u.mean <= 0 || stopping <= 0 || len(u.classes) == 0 {
		return
	}
	perS := Throughput(u.Slots, stopping)
	out.StoppingPerS = Number(perS)
	out.StoppingStablePerS = Number(StableBelow(perS, attempts))
	if stopping >= u.hold {
		return // it stops there already, or no call is as long
	}
	fs.add("stopping_per_s", perS, "/s",
		fmt.Sprintf("slots / mean of min(service, limit of a try) = %s / %s", count(u.Slots), stopping),
		"it read the deadline that is passed down and stopped there; today it works on for who has left (stops_at_deadline)")
	fs.add("stopping_stable_per_s", float64(out.StoppingStablePerS), "/s",
		"the same / attempts = "+rate(perS)+" / "+num(attempts), "as above")
}
