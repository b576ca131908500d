package fallback

import (
	"math"
	"slices"
	"time"

	"github.com/spillway-dev/spillway/policy/reason"
	"github.com/spillway-dev/spillway/policy/unit"
	"github.com/spillway-dev/spillway/report"
	"github.com/spillway-dev/spillway/sim/store"
)

// Round is a round's figures. Latency counts from the scheduled instant, over all
// requests, stand-ins and errors included; shares are of requests.
type Round struct {
	Requests report.Number `json:"requests"`
	// Freezes is how many requests' first lookups drew a freeze.
	Freezes report.Number `json:"freezes"`
	P50Ms   report.Number `json:"p50_ms"`
	P99Ms   report.Number `json:"p99_ms"`
	P995Ms  report.Number `json:"p995_ms"`
	MaxMs   report.Number `json:"max_ms"`
	Slowest report.Number `json:"slowest_1pct_mean_ms"`
	// P99From and P99To are where the p99 of such a round may as well lie: three
	// standard deviations of the rank.
	P99From  report.Number `json:"p99_from_ms"`
	P99To    report.Number `json:"p99_to_ms"`
	StandIns report.Number `json:"stand_in_share"`
	Errors   report.Number `json:"error_share"`
	// FalseTimeouts had an attempt cut off by its limit that had not frozen.
	FalseTimeouts   report.Number `json:"false_timeout_share"`
	CallsPerRequest report.Number `json:"calls_per_request"`
	StoreMsPerCall  report.Number `json:"store_ms_per_call"` // that a slot was held
	MaxWaiting      report.Number `json:"max_waiting"`       // in the store's line
	Tipped          bool          `json:"tipped"`
	LatencyTotalMs  report.Number `json:"latency_total_ms"`
	StoreTotalMs    report.Number `json:"store_total_ms"`
	// Steps are where the slowest 1 % spent their time, means.
	Steps Steps `json:"slow_steps"`
}

// Steps of a request, in ms: until a sender took it; until the lookup was sent
// that decided, by its answer or as the last that was waited for; in the store's
// line; in its slot, as far as the service waited; scoring and network.
type Steps struct {
	Sender  report.Number `json:"sender_ms"`
	Earlier report.Number `json:"earlier_ms"`
	Line    report.Number `json:"line_ms"`
	Slot    report.Number `json:"slot_ms"`
	Rest    report.Number `json:"rest_ms"`
}

// numbers are the round's figures one by one.
func (r *Round) numbers() []*report.Number {
	return []*report.Number{
		&r.Requests, &r.Freezes, &r.P50Ms, &r.P99Ms, &r.P995Ms, &r.MaxMs, &r.Slowest, &r.P99From, &r.P99To, &r.StandIns, &r.Errors,
		&r.FalseTimeouts, &r.CallsPerRequest, &r.StoreMsPerCall, &r.MaxWaiting, &r.LatencyTotalMs, &r.StoreTotalMs,
		&r.Steps.Sender, &r.Steps.Earlier, &r.Steps.Line, &r.Steps.Slot, &r.Steps.Rest,
	}
}

// medianOf is the median of each figure; tipped if more than half are.
func medianOf(rounds []Round) Round {
	var m Round
	tipped := 0
	for i, into := range m.numbers() {
		values := make([]float64, 0, len(rounds))
		for j := range rounds {
			values = append(values, float64(*rounds[j].numbers()[i]))
		}
		slices.Sort(values)
		n := len(values)
		*into = report.Number((values[(n-1)/2] + values[n/2]) / 2)
	}
	for _, r := range rounds {
		if r.Tipped {
			tipped++
		}
	}
	m.Tipped = 2*tipped > len(rounds)
	return m
}

// endLength is how much of a round's end says whether it has tipped.
const endLength = 5 * time.Second

// collector makes a round's figures of what it hears.
type collector struct {
	setting                      *Setting
	requests                     []taken
	freezes, false1, standIns    int64
	lookups                      int64
	held                         time.Duration
	lastOffered, lastNotAnswered int64
	late                         unit.Instant // from here on is the round's end
	reasons                      [256]int64
	missed                       []int64 // numbers of requests that the store did not answer
}

// taken is what a request took, in steps.
type taken struct {
	latency, sender, earlier, line, slot time.Duration
	n                                    int64
}

func newCollector(s *Setting) *collector {
	return &collector{
		setting: s, late: unit.Instant(max(0, ms(1000*s.Seconds)-endLength)),
		requests: make([]taken, 0, int(s.Rate*s.Seconds*1.1)+16),
	}
}

func (c *collector) request(q *store.Request) {
	t := taken{latency: q.Answered.Sub(q.Scheduled), sender: q.Begun.Sub(q.Scheduled), earlier: q.Sent.Sub(q.Begun), n: q.N}
	if q.Slot >= 0 {
		t.line, t.slot = q.Slot.Sub(q.Sent), q.Decided.Sub(q.Slot)
	} else {
		t.line = q.Decided.Sub(q.Sent)
	}
	c.requests = append(c.requests, t)
	c.reasons[q.Reason]++
	if q.FirstFrozen {
		c.freezes++
	}
	if q.CutUnfrozen {
		c.false1++
	}
	late := q.Scheduled >= c.late
	if late {
		c.lastOffered++
	}
	if q.Reason != reason.Served {
		c.standIns++
		c.missed = append(c.missed, q.N)
		if late {
			c.lastNotAnswered++
		}
	}
}

func (c *collector) lookup(l *store.Lookup) {
	c.lookups++
	if l.Begun >= 0 {
		c.held += l.Ended.Sub(l.Begun)
	}
}

// rank is the place, from 0, of the quantile q of n in order.
func rank(q float64, n int) int { return min(max(int(math.Ceil(q*float64(n)-1e-9)), 1), n) - 1 }

func (c *collector) figures(sums store.Sums) Round {
	n := len(c.requests)
	slices.SortFunc(c.requests, func(a, b taken) int {
		if a.latency != b.latency {
			return int(a.latency - b.latency)
		}
		return int(a.n - b.n)
	})
	at := func(q float64) report.Number { return report.Ms(int64(c.requests[rank(q, n)].latency)) }
	share := func(k int64) report.Number { return report.Share(k, int64(n)) }
	r := Round{
		Requests: report.Number(n), Freezes: report.Number(c.freezes), FalseTimeouts: share(c.false1),
		CallsPerRequest: share(c.lookups), StoreMsPerCall: report.Number(float64(c.held) / 1e6 / float64(c.lookups)),
		MaxWaiting: report.Number(sums.MaxWaiting), StoreTotalMs: report.Ms(int64(c.held)),
		Tipped: 2*c.lastNotAnswered > c.lastOffered,
	}
	if c.lookups == 0 {
		r.StoreMsPerCall = report.None()
	}
	if c.setting.Otherwise == "error" {
		r.Errors = share(c.standIns)
	} else {
		r.StandIns = share(c.standIns)
	}
	if n == 0 {
		for _, f := range []*report.Number{&r.P50Ms, &r.P99Ms, &r.P995Ms, &r.MaxMs, &r.Slowest, &r.P99From, &r.P99To} {
			*f = report.None()
		}
		return r
	}
	spread := 3 * math.Sqrt(0.01*0.99/float64(n))
	r.P50Ms, r.P99Ms, r.P995Ms, r.MaxMs = at(0.5), at(0.99), at(0.995), at(1)
	r.P99From, r.P99To = at(0.99-spread), at(min(1, 0.99+spread))
	var total time.Duration
	for i := range c.requests {
		total += c.requests[i].latency
	}
	r.LatencyTotalMs = report.Ms(int64(total))
	var sum taken
	slowest := c.requests[n-max(1, n/100):]
	for _, t := range slowest {
		sum.latency, sum.sender, sum.earlier, sum.line, sum.slot = sum.latency+t.latency, sum.sender+t.sender, sum.earlier+t.earlier, sum.line+t.line, sum.slot+t.slot
	}
	mean := func(d time.Duration) report.Number { return report.Number(float64(d) / 1e6 / float64(len(slowest))) }
	r.Slowest = mean(sum.latency)
	r.Steps = Steps{mean(sum.sender), mean(sum.earlier), mean(sum.line), mean(sum.slot), mean(sum.latency - sum.sender - sum.earlier - sum.line - sum.slot)}
	return r
}
