package plan

import (
	"fmt"
	"math"
	"strings"
)

// The three regimes; see the package comment.
const (
	stateStable     = "stable"
	stateMetastable = "metastable"
	stateUnstable   = "unstable"
	stateUnknown    = "unknown"
)

// planUpstream works out what an upstream sustains and where retries tip it.
func (m *maker) planUpstream(u *upstream) {
	var fs figures
	var out UpstreamPlan
	where := u.Kind + " " + u.Name

	mean := math.NaN()
	if u.mean > 0 {
		mean = u.mean.Seconds()
	}
	runs := "a call runs to its end although its caller left"
	if u.hold < u.mean {
		runs = "the longest are cut off below"
	}
	out.MeanServiceS = fs.add("mean_service_s", mean, "s", "sum of share x time over "+plural(int64(len(u.Service)), "part"),
		"the mix holds under load; "+runs)
	if u.hold < u.mean {
		fs.add("hold_s", u.hold.Seconds(), "s", "mean of min(service, where it stops)", u.stopsWords())
	}

	sustainable, formula, assumption := u.sustainable()
	out.SustainablePerS = fs.add("sustainable_per_s", sustainable, "/s", formula, assumption)

	attempts, how := u.sustainedAttempts()
	stable := StableBelow(sustainable, attempts)
	out.StableBelowPerS = fs.add("stable_below_per_s", stable, "/s",
		"sustainable / "+u.attemptsWords()+" = "+rate(sustainable)+" / "+num(attempts),
		how+"; retries of callers are held off by admission and not counted")
	out.MetastableBelowPerS = fs.add("metastable_below_per_s", sustainable, "/s", "sustainable",
		"retries do not let up: from stable_below on, one bad second lasts")

	expected := u.expected()
	out.ExpectedPerS = Number(math.NaN())
	if expected > 0 {
		out.ExpectedPerS = fs.add("expected_per_s", expected, "/s", "sum of expect.rate of its classes",
			"first tries, all admitted; a class without a rate counts as none")
	}
	u.planHold(&out, &fs, attempts)
	m.planRecovery(u, &out, &fs, sustainable, attempts)
	u.state = regime(expected, stable, sustainable)
	out.State, out.Figures = u.state, fs
	m.plan.Upstreams[u.Name] = out

	switch u.state {
	case stateUnstable:
		m.warn(nil, where, fmt.Sprintf("unstable at the expected %s: it sustains %s, the rest queues or is turned away; %s would carry it",
			rate(expected), rate(sustainable), u.slotsAbove(expected)))
	case stateMetastable:
		m.warn(nil, where, fmt.Sprintf("metastable at the expected %s: it sustains %s, but with %s calls a request when all fail, one bad second "+
			"above %s feeds itself and does not end; %s, or %s (stable from there on)",
			rate(expected), rate(sustainable), num(attempts), rate(stable), u.retryFix(expected, sustainable), u.slotsAbove(float64(expected*attempts))))
	}
	m.warnUpstream(u, where)
}

// sustainable is slots / mean service. Where the upstream says nothing of itself,
// what its classes' slots let through stands in: more never reaches it.
func (u *upstream) sustainable() (perS float64, formula, assumption string) {
	if u.Slots > 0 && u.mean > 0 {
		formula = "slots / mean service = %s / %s"
		if u.hold < u.mean {
			formula = "slots / hold = %s / %s"
		}
		return Throughput(u.Slots, u.hold), fmt.Sprintf(formula, count(u.Slots), u.hold), "no slot idle; service times do not grow with load"
	}
	if len(u.classes) == 0 {
		return math.NaN(), "slots / mean service", "slots or service time are not known"
	}
	for _, c := range u.classes {
		perS += Throughput(c.slots, c.holding)
	}
	formula, assumption = "sum of slots / service of its classes", "it can do what its classes' slots let through"
	if u.Slots > 0 && perS > 0 {
		var slots int64
		for _, c := range u.classes {
			slots += min(c.slots, math.MaxInt64-slots)
		}
		// Its own slots are fewer than those of its classes: they share them.
		if slots > u.Slots {
			perS = float64(perS * (float64(u.Slots) / float64(slots)))
			assumption = "its slots are shared in the proportion of its classes' slots"
		}
	}
	return perS, formula, assumption
}

// sustainedAttempts is the classes' calls a request, weighted by expected rate
// where all have one, else the worst of them.
func (u *upstream) sustainedAttempts() (attempts float64, how string) {
	var calls, rates float64
	allKnown := true
	attempts = 1
	for _, c := range u.classes {
		a := c.sustainedAttempts()
		attempts = max(attempts, a)
		calls += float64(a * c.Expect.Rate)
		rates += c.Expect.Rate
		allKnown = allKnown && c.Expect.Rate > 0
	}
	if mean := calls / rates; len(u.classes) > 1 && allKnown && !math.IsInf(calls, 1) {
		return max(1, mean), "every attempt fails; calls a request weighted by the expected rates"
	}
	return attempts, "every attempt fails"
}

func (u *upstream) expected() float64 {
	sum := 0.0
	for _, c := range u.classes {
		sum += c.Expect.Rate
	}
	return sum
}

// regime names the state at a rate; unknown without a rate or a border.
func regime(expected, stable, sustainable float64) string {
	switch {
	case expected <= 0 || math.IsNaN(sustainable):
		return stateUnknown
	case expected >= sustainable:
		return stateUnstable
	case expected >= stable:
		return stateMetastable
	}
	return stateStable
}

// slotsAbove is the least number of slots that sustain more than perS: at the
// border itself a backlog does not shrink.
func (u *upstream) slotsAbove(perS float64) string {
	if u.hold <= 0 {
		return "more slots"
	}
	return plural(whole(math.Floor(InSystem(perS, u.hold))+1), "slot")
}

// stopsWords says where calls are cut off.
func (u *upstream) stopsWords() string {
	if u.StopsAtDeadline {
		return "it stops at the deadline that is passed down (stops_at_deadline)"
	}
	return "it gives up by itself after " + dur(u.StopsAfter) + " (stops_after)"
}

// attemptsWords says what divides the sustainable rate.
func (u *upstream) attemptsWords() string {
	words := "min(attempts, 1 + retry budget)"
	for _, c := range u.classes {
		if h := c.Call.Hedge; h.on() && h.BudgetOff {
			return "calls a request, hedges without a budget"
		} else if h.on() {
			words = "(min(attempts, 1 + retry budget) + hedge budget)"
		}
	}
	return words
}

// retryFix says which setting would make the rate a stable one.
func (u *upstream) retryFix(expected, sustainable float64) string {
	const usual = 0.1 // the config's default budgets
	var keys []string
	retries, hedges := false, false
	for _, c := range u.classes {
		retries = retries || c.Call.Retries > 0
		hedges = hedges || c.Call.Hedge.on()
	}
	if retries {
		keys = append(keys, "call.retry_budget")
	}
	if hedges {
		keys = append(keys, "call.hedge.budget")
	}
	each := float64(max(1, len(keys)))
	switch room := (sustainable/expected - 1) / each; {
	case room > usual:
		return fmt.Sprintf("set %s to 10 %% (stable below %s)", strings.Join(keys, " and "), rate(sustainable/(1+float64(each*usual))))
	case room > 0.01:
		return fmt.Sprintf("set %s below %s", strings.Join(keys, " and "), percent(math.Floor(room*100)/100))
	case hedges && retries:
		return "set call.retries to 0 and leave hedge out"
	case hedges:
		return "leave hedge out"
	}
	return "set call.retries to 0"
}
