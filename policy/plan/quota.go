package plan

import (
	"fmt"
	"math"
	"time"
)

// constraint is one of the limits of a quota and the rate it allows; +Inf if it
// does not limit, NaN if that cannot be known.
type constraint struct {
	name    string
	perS    float64
	formula string
}

// binding is the constraint that allows least. On a tie the one named first
// binds; where nothing limits the answer is +Inf and "none".
func binding(checks []constraint) (perS float64, name string) {
	perS, name = math.Inf(1), "none"
	for _, c := range checks {
		if c.perS < perS { // never true for NaN
			perS, name = c.perS, c.name
		}
	}
	return perS, name
}

// measureQuota checks requests, tokens, slots and deadline, in this order.
func (m *maker) measureQuota(q *quota) {
	q.meanCall, q.deadline = q.MeanCall, q.Deadline
	var users int64
	for _, c := range q.classes {
		users += min(c.slots, math.MaxInt64-users)
		// The longest call is the safe choice where classes differ.
		if q.MeanCall <= 0 {
			q.meanCall = max(q.meanCall, c.holding)
		}
		if q.Deadline <= 0 && c.Deadline > 0 && (q.deadline <= 0 || c.Deadline < q.deadline) {
			q.deadline = c.Deadline
		}
	}
	q.slots = max(0, q.Concurrent)
	if users > 0 && (q.slots == 0 || users < q.slots) {
		q.slots = users
	}
	q.checks = []constraint{q.requests(), q.tokens(), q.calls(), q.inTime()}
	q.feasible, q.binding = binding(q.checks)
}

func (q *quota) requests() constraint {
	if q.RequestsPerS == 0 {
		return constraint{"requests", math.Inf(1), "not limited"}
	}
	return constraint{"requests", q.RequestsPerS, "requests per second"}
}

func (q *quota) tokens() constraint {
	c := constraint{"tokens", math.Inf(1), "not limited"}
	switch {
	case q.TokensPerS == 0:
	case q.TokensPerCall == 0:
		c.perS, c.formula = math.NaN(), "tokens per second / tokens per call"
	case q.TokensBurst > 0 && q.TokensPerCall > q.TokensBurst:
		c.perS, c.formula = 0, "a call needs "+num(q.TokensPerCall)+" tokens, the burst holds "+num(q.TokensBurst)
	default:
		c.perS = q.TokensPerS / q.TokensPerCall
		c.formula = "tokens / tokens per call = " + rate(q.TokensPerS) + " / " + num(q.TokensPerCall)
	}
	return c
}

func (q *quota) calls() constraint {
	if q.slots == 0 {
		return constraint{"slots", math.Inf(1), "not limited"}
	}
	return constraint{"slots", Throughput(q.slots, q.meanCall), fmt.Sprintf("slots / mean call = %s / %s", count(q.slots), q.meanCall)}
}

// inTime is all or nothing: a deadline sets no rate, but a call that is longer
// than it can never be answered.
func (q *quota) inTime() constraint {
	if q.deadline > 0 && q.meanCall > q.deadline {
		return constraint{"deadline", 0, fmt.Sprintf("a call of %s does not fit into %s", dur(q.meanCall), dur(q.deadline))}
	}
	return constraint{"deadline", math.Inf(1), "a call fits into the deadline"}
}

func (m *maker) planQuota(q *quota) {
	var fs figures
	where := "quota " + q.Name
	for _, c := range q.checks {
		fs.add(c.name+"_per_s", c.perS, "/s", c.formula, map[string]string{
			"requests": "steady arrivals; a burst is served faster once, then not",
			"tokens":   "mean tokens a call; variable lengths and burst windows give less",
			"slots":    "no slot idle; calls of unknown outcome keep theirs",
			"deadline": "mean call; no wait before it",
		}[c.name])
	}
	out := QuotaPlan{Binding: q.binding, ExpectedPerS: Number(math.NaN())}
	out.FeasiblePerS = fs.add("feasible_per_s", q.feasible, "/s", "least of requests, tokens, slots, deadline: "+q.binding,
		"the provider keeps what it promises; one attempt a request")

	expected := 0.0
	for _, c := range q.classes {
		expected += c.Expect.Rate
	}
	if expected > 0 {
		out.ExpectedPerS = fs.add("expected_per_s", expected, "/s", "sum of expect.rate of its classes", "first tries, all admitted")
	}
	out.Figures = fs
	m.plan.Quotas[q.Name] = out
	m.warnQuota(q, where, expected)
}

func (m *maker) warnQuota(q *quota, where string, expected float64) {
	switch {
	case q.TokensPerS > 0 && q.TokensPerCall == 0:
		m.warn(nil, where, "tokens are limited but tokens per call are not known, so they are not checked; give the mean")
	case q.TokensBurst > 0 && q.TokensPerCall > q.TokensBurst:
		m.warn(nil, where, fmt.Sprintf("a call of %s tokens never fits a burst of %s; raise tokens.burst or cap the tokens of a call",
			num(q.TokensPerCall), num(q.TokensBurst)))
	}
	if q.slots > 0 && q.meanCall <= 0 {
		m.warn(nil, where, "calls at once are limited but the mean call time is not known, so they are not checked; give it")
	}
	if q.deadline > 0 && q.meanCall > q.deadline {
		m.warn(nil, where, fmt.Sprintf("a call takes %s and the deadline is %s: nothing is answered in time; raise the deadline or call something faster",
			dur(q.meanCall), dur(q.deadline)))
	}
	if q.binding == "none" {
		m.warn(nil, where, "limits nothing; give requests, tokens or concurrent")
		return
	}
	if growth := BacklogGrowth(expected, q.feasible); growth > 0 {
		q.over = true
		m.warn(nil, where, fmt.Sprintf("%s are expected and %s are feasible (%s bind): what waits for it grows by %s; raise %s, or refuse earlier",
			rate(expected), rate(q.feasible), q.binding, rate(growth), q.raise(expected)))
	}
}

// raise says what would carry the rate.
func (q *quota) raise(expected float64) string {
	switch q.binding {
	case "requests":
		return "requests to " + rate(expected)
	case "tokens":
		return "tokens to " + rate(float64(expected*q.TokensPerCall))
	case "slots":
		return "concurrent and class slots to " + count(SlotsFor(expected, q.meanCall))
	}
	return "the deadline above " + dur(max(q.meanCall, time.Millisecond))
}
