package plan

import (
	"fmt"
	"math"
	"time"
)

// planClass works one class out: throughput, bound, what a rate above it does,
// and what retries make of one request.
func (m *maker) planClass(c *class) {
	var fs figures
	out := ClassPlan{Slots: max(0, c.Slots.Max), LimitedBy: c.limitedBy, Warnings: []string{}}
	if c.Slots.adaptive() {
		out.Slots = c.slots
	}

	formula, assumption := c.throughputWords()
	out.ThroughputPerS = fs.add("throughput_per_s", c.throughput, "/s", formula, assumption)
	out.ExpectedPerS = Number(c.Expect.Rate)
	if c.Expect.Rate == 0 {
		out.ExpectedPerS = Number(math.NaN())
	}
	m.planBound(c, &out, &fs)
	m.planLoad(c, &out, &fs)
	m.planRungs(c, &fs)
	m.planRetries(c, &out, &fs)
	m.planTimeout(c, &out, &fs)
	out.Tenants = m.planTenants(c)
	m.warnNesting(c)
	m.warnCall(c)
	m.warnLimits(c)

	out.Figures = fs
	out.Warnings = append(out.Warnings, c.warnings...)
	m.plan.Classes[c.Name] = out
}

func (c *class) throughputWords() (formula, assumption string) {
	if c.limitedBy != "slots" {
		return "feasible_per_s of " + c.limitedBy, "the class has the quota to itself; its slots would do " +
			rate(Throughput(c.slots, c.holding))
	}
	formula = fmt.Sprintf("slots / service = %s / %s", count(c.slots), c.holding)
	assumption = "no slot idle, one attempt a request"
	switch {
	case c.holding == 0:
		return "slots / service", "the service time is not known"
	case c.slots == 0:
		return formula, "no guaranteed slots"
	case !c.Slots.adaptive() && c.slots < c.Slots.Max:
		assumption += fmt.Sprintf("; %s of %s slots, more the %s has not", count(c.slots), count(c.Slots.Max), c.up.Kind)
	case c.Slots.adaptive():
		assumption += fmt.Sprintf("; adaptive slots settled at %s", count(c.slots))
	}
	if c.Borrow > 0 {
		assumption += fmt.Sprintf("; up to %s borrowed ones not counted", count(c.Borrow))
	}
	return formula, assumption + "; " + c.holdingOf
}

// boundInput is what the live room is given too. A quota that is tighter than
// the slots is handed on as so many requests over a long span.
func (c *class) boundInput() BoundInput {
	latency := c.Budget.Latency
	if latency <= 0 {
		latency = c.Deadline
	}
	service := c.Budget.Service
	if service <= 0 {
		service = c.holding
	}
	in := BoundInput{
		AllowedWait: AllowedWait(latency, service),
		Slots:       c.slots,
		Holding:     c.holding,
		MemoryLimit: c.Memory.Limit,
		PerRequest:  c.Memory.PerRequest,
		Configured:  c.Bound,
	}
	if c.limitedBy != "slots" {
		const span = 1e6 // seconds: micro-requests per second are precise enough
		in.Slots, in.Holding = whole(math.Round(c.throughput*span)), span*time.Second
	}
	return in
}

func (m *maker) planBound(c *class, out *ClassPlan, fs *figures) {
	in := c.boundInput()
	out.AllowedWaitS = fs.add("allowed_wait_s", in.AllowedWait.Seconds(), "s", "budget.latency - budget.service",
		"the service time of the budget holds while a full room is served")
	out.Bound, out.BoundFrom = Bound(in)

	derived := fmt.Sprintf("allowed wait x throughput = %s x %s", dur(in.AllowedWait), rate(c.throughput))
	because := map[BoundFrom]string{
		FromLatencyBudget: derived,
		FromMemory:        fmt.Sprintf("memory / worst request = %s / %s", size(float64(in.MemoryLimit)), size(float64(in.PerRequest))),
		FromConfigured:    "configured",
		FromMinimum:       "at least one may wait",
		FromMaximum:       "the most that any room holds",
	}[out.BoundFrom]
	fs.add("bound", float64(out.Bound), "requests", because+" ("+out.BoundFrom.String()+")",
		"throughput holds while the room drains; re-derived live as it moves")

	retained := float64(float64(out.Bound) * float64(max(0, in.PerRequest)))
	out.RetainedBytes = whole(retained)
	fs.add("retained_bytes", retained, "B", fmt.Sprintf("bound x worst request = %s x %s",
		count(int64(out.Bound)), size(float64(max(0, in.PerRequest)))),
		"every waiter retains the worst case; running requests come on top")
	out.DrainS = fs.add("drain_s", DrainTime(out.Bound, c.throughput), "s", "bound / throughput",
		"the wait of the last of a full room; no long call stands in the way")
	m.warnBound(c, in, out)
}

// planLoad compares the expected rate with the throughput.
func (m *maker) planLoad(c *class, out *ClassPlan, fs *figures) {
	r := c.Expect.Rate
	if r == 0 {
		none := math.NaN()
		out.BacklogGrowthPerS, out.BufferFillS, out.InSystem = Number(none), Number(none), Number(none)
		return
	}
	growth := BacklogGrowth(r, c.throughput)
	out.BacklogGrowthPerS = fs.add("backlog_growth_per_s", growth, "/s",
		fmt.Sprintf("arrivals - throughput = %s - %s, not below 0", rate(r), rate(c.throughput)), "sustained arrivals")
	fill := FillTime(out.Bound, r, c.throughput)
	out.BufferFillS = fs.add("buffer_fill_s", fill, "s", "bound / backlog growth",
		"sustained arrivals into an empty room; a burst that ends can drain")

	switch {
	case c.holding == 0:
		out.InSystem = fs.add("in_system", math.NaN(), "requests", "arrivals x time in system", "the service time is not known")
	case growth > 0:
		out.InSystem = fs.add("in_system", InSystem(c.throughput, c.holding)+float64(out.Bound), "requests",
			"throughput x service + bound", "not stable: the room is full and stays so")
	default:
		out.InSystem = fs.add("in_system", InSystem(r, c.holding), "requests",
			fmt.Sprintf("arrivals x time in system = %s x %s", rate(r), dur(c.holding)),
			"stable regime, waits small against service; says nothing of tails or fairness")
	}
	if !(growth > 0) {
		return
	}
	c.overloaded = true
	fix := "lower the rate or raise the quota"
	if c.limitedBy == "slots" {
		fix = fmt.Sprintf("%s would just serve all", plural(SlotsFor(r, c.holding), "slot"))
	}
	m.warn(c, c.where(), fmt.Sprintf("%s arrive and %s can be served: the backlog grows by %s, the room of %s is full in %s "+
		"and then %s are turned away (when_full: %s); %s%s",
		rate(r), rate(c.throughput), rate(growth), count(int64(out.Bound)), seconds(fill), rate(growth), orDefault(c.WhenFull, "reject"), fix, orLadder(c.Rungs)))
	m.warnIdle(c)
}

func orDefault(s, d string) string {
	if s == "" {
		return d
	}
	return s
}
