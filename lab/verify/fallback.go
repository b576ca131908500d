package verify

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
)

type fallbackSettings struct {
	Rate      float64 `json:"rate"`
	Seconds   float64 `json:"seconds"`
	Otherwise string  `json:"otherwise"`
	Factor    int64   `json:"busy_factor"`
}

// frozenFrom is the shortest wait of a lookup that hangs.
const frozenFrom = int64(1e9)

// asked is a request of a round with its lookups.
type asked struct {
	row
	lookups []row
}

func (a *asked) latency() int64 { return a.ended - a.scheduled }

func (a *asked) answered() bool { return a.class == "served" }

// byRound joins requests with their lookups, in order of their numbers.
func byRound(rows []row) [][]*asked {
	index := map[[2]int64]*asked{}
	var rounds [][]*asked
	for _, r := range rows {
		if r.kind != "q" || r.stream < 0 || r.stream >= 1000 {
			continue
		}
		for int64(len(rounds)) <= r.stream {
			rounds = append(rounds, nil)
		}
		a := &asked{row: r}
		rounds[r.stream] = append(rounds[r.stream], a)
		index[[2]int64{r.stream, r.number}] = a
	}
	for _, r := range rows {
		if a := index[[2]int64{r.stream, r.number}]; r.kind == "l" && a != nil {
			a.lookups = append(a.lookups, r)
		}
	}
	return rounds
}

// fallbackFigures finds the figures of an arm again, and follows the request that
// the lab followed.
func (c *checker) fallbackFigures(dir, name string, text json.RawMessage, rows []row) (figures, error) {
	var s fallbackSettings
	if err := json.Unmarshal(text, &s); err != nil {
		return nil, fmt.Errorf("settings: %w", err)
	}
	rounds := byRound(rows)
	f := figures{}
	columns := map[string][]float64{}
	tipped := 0
	for i, round := range rounds {
		one := figures{}
		one.round(&s, round)
		did := hasTipped(&s, round)
		if did {
			tipped++
		}
		if c.tipped == nil {
			c.tipped = map[string][]bool{}
		}
		c.tipped[name] = append(c.tipped[name], did)
		for figure, v := range one { // order does not matter: the columns are sorted
			f[fmt.Sprintf("rounds.%d.%s", i, figure)] = v
			columns[figure] = append(columns[figure], v)
		}
	}
	for figure, values := range columns {
		f["median."+figure] = middle(values)
	}
	reasons := map[string]float64{}
	for _, round := range rounds {
		for _, a := range round {
			reasons[a.reason]++
		}
	}
	for why, n := range reasons {
		f["reasons."+why] = n
	}
	c.same(name+": lookups that held a slot for another time than they drew", "0", fmt.Sprint(misheld(&s, rows, c.results.Mode == "live")))
	of := len(rounds)
	if _, more := c.results.Records[name+"-tipping"]; more {
		var err error
		if tipped, of, err = c.tippedOf(dir, name+"-tipping", &s); err != nil {
			return nil, err
		}
	}
	f["tipping.rounds"], f["tipping.tipped"], f["tipping.share"] = float64(of), float64(tipped), float64(tipped)/float64(of)
	f["tipping.low"], f["tipping.high"] = rangeOfShare(float64(tipped), float64(of))
	c.walk(name, rounds)
	return f, nil
}

// misheld counts the lookups that ended by themselves, but not after the wait
// that they had drawn, or as many times it as a busy store takes. A live store that
// sleeps its waits is late, and never early.
func misheld(s *fallbackSettings, rows []row, live bool) int {
	n := 0
	for _, r := range rows {
		if r.kind != "l" || r.class != "used" && r.class != "late" || r.started < 0 {
			continue
		}
		held := r.ended - r.started
		if live && held < r.cost || !live && held != r.cost && held != r.cost*s.Factor {
			n++
		}
	}
	return n
}

// round fills in one round's figures.
func (f figures) round(s *fallbackSettings, round []*asked) {
	n := len(round)
	var held, freezes, cut, missed, calls, total int64
	var in, out []int64 // of the line
	for _, a := range round {
		total += a.latency()
		if !a.answered() {
			missed++
		}
		frozen, early := a.flag&1 != 0 && len(a.lookups) == 0, false
		for _, l := range a.lookups {
			calls++
			hangs := l.cost >= frozenFrom
			frozen = frozen || hangs && l.attempt == 1
			early = early || l.flag&4 != 0 && !hangs
			leaves := l.ended
			if l.started >= 0 {
				held += l.ended - l.started
				leaves = l.started
			}
			if leaves > l.arrived {
				in, out = append(in, l.arrived), append(out, leaves)
			}
		}
		if frozen {
			freezes++
		}
		if early {
			cut++
		}
	}
	share := func(k int64) float64 { return float64(k) / float64(n) }
	f["requests"], f["freezes"] = float64(n), float64(freezes)
	f["stand_in_share"], f["error_share"] = share(missed), 0
	if s.Otherwise == "error" {
		f["stand_in_share"], f["error_share"] = 0, share(missed)
	}
	f["false_timeout_share"], f["calls_per_request"] = share(cut), share(calls)
	f["store_ms_per_call"], f["store_total_ms"] = float64(held)/float64(calls)/1e6, float64(held)/1e6
	f["latency_total_ms"] = float64(total) / 1e6
	f["max_waiting"] = float64(most(in, out))
	f.tail(round)
}

// most is how many were in line at once; who leaves at an instant makes room for
// who comes at it.
func most(in, out []int64) int {
	slices.Sort(in)
	slices.Sort(out)
	peak, gone := 0, 0
	for i, t := range in {
		for gone < len(out) && out[gone] <= t {
			gone++
		}
		peak = max(peak, i+1-gone)
	}
	return peak
}

// tail fills in quantiles and what the slowest spent their time on.
func (f figures) tail(round []*asked) {
	n := len(round)
	order := slices.Clone(round)
	slices.SortFunc(order, func(a, b *asked) int {
		switch d := b.latency() - a.latency(); {
		case d != 0:
			return int(d)
		default:
			return int(b.number - a.number)
		}
	}) // slowest first
	if n == 0 {
		for _, name := range []string{"p50_ms", "p99_ms", "p995_ms", "max_ms", "slowest_1pct_mean_ms", "p99_from_ms", "p99_to_ms"} {
			f[name] = math.NaN()
		}
		return
	}
	// above returns the latency that exactly floor(n x share) are beyond.
	above := func(share float64) float64 {
		k := int(math.Floor(share*float64(n) + 1e-9))
		return float64(order[min(max(k, 0), n-1)].latency()) / 1e6
	}
	luck := 3 * math.Sqrt(0.0099/float64(n))
	f["p50_ms"], f["p99_ms"], f["p995_ms"], f["max_ms"] = above(0.5), above(0.01), above(0.005), above(0)
	f["p99_from_ms"], f["p99_to_ms"] = above(0.01+luck), above(max(0, 0.01-luck))
	k := max(1, n/100)
	var sum, sender, earlier, line, slot, rest int64
	for _, a := range order[:k] {
		sum += a.latency()
		sender += a.arrived - a.scheduled
		rest += a.ended - a.started
		sent, got := a.arrived, int64(-1)
		for _, l := range a.lookups {
			if l.attempt == a.attempt && a.attempt > 0 {
				sent = l.arrived
				if l.started >= 0 && l.started <= a.started {
					got = l.started
				}
			}
		}
		earlier += sent - a.arrived
		if got < 0 {
			line += a.started - sent
		} else {
			line += got - sent
			slot += a.started - got
		}
	}
	mean := func(v int64) float64 { return float64(v) / 1e6 / float64(k) }
	f["slowest_1pct_mean_ms"] = mean(sum)
	f["slow_steps.sender_ms"], f["slow_steps.earlier_ms"] = mean(sender), mean(earlier)
	f["slow_steps.line_ms"], f["slow_steps.slot_ms"], f["slow_steps.rest_ms"] = mean(line), mean(slot), mean(rest)
}

// hasTipped reports whether more than half of the requests of the last five
// seconds got no answer.
func hasTipped(s *fallbackSettings, round []*asked) bool {
	end := int64(math.Max(0, s.Seconds*1e9-5e9))
	all, none := 0, 0
	for _, a := range round {
		if a.scheduled >= end {
			all++
			if !a.answered() {
				none++
			}
		}
	}
	return none > all-none
}

func middle(values []float64) float64 {
	slices.Sort(values)
	n := len(values)
	if n%2 == 1 {
		return values[n/2]
	}
	return (values[n/2-1] + values[n/2]) / 2
}

// rangeOfShare is the 95 % range after Wilson: the shares x whose distance from
// the one seen is 1.96 standard deviations of x, the roots of a quadratic.
func rangeOfShare(k, n float64) (low, high float64) {
	const z = 1.959963984540054
	p, w := k/n, z*z/n
	a, b, c := 1+w, -(2*p + w), p*p
	root := math.Sqrt(math.Max(0, b*b-4*a*c))
	return math.Max(0, (-b-root)/(2*a)), math.Min(1, (-b+root)/(2*a))
}
