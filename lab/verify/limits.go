package verify

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
)

type limitsSettings struct {
	Law      string `json:"law"`
	Scenario string `json:"scenario"`
	ForS     int64  `json:"for_s"`
	Mixed    bool   `json:"mixed"`
	Phases   []struct {
		AtS      int64   `json:"at_s"`
		Capacity float64 `json:"capacity"`
		Slower   float64 `json:"slower"`
		Load     float64 `json:"load"`
		Judged   bool    `json:"judged"`
		Step     bool    `json:"step"`
	} `json:"phases"`
}

const (
	limitsServiceS = 0.02
	limitsFound    = 0.1
	limitsOver     = 1.3
	limitsInARow   = 3
)

// limitsSecond is what is known of one second.
type limitsSecond struct {
	phase                             int
	judged                            bool
	inFlight                          float64
	offered, answered, served, missed float64 // answered by the second of the answer
}

// limitsFigures computes what lab limits says of an arm: from a line of all starts and
// ends in the order of time, not second by second as they came.
func limitsFigures(text json.RawMessage, rows []row) (figures, error) {
	var s limitsSettings
	if err := json.Unmarshal(text, &s); err != nil {
		return nil, fmt.Errorf("settings: %w", err)
	}
	if s.ForS < 1 || s.ForS > 100_000 || len(s.Phases) == 0 || s.Phases[0].AtS != 0 {
		return nil, fmt.Errorf("settings: %d s in %d phases", s.ForS, len(s.Phases))
	}
	seconds, latency, err := s.seconds(rows)
	if err != nil {
		return nil, err
	}
	f := figures{"offered": float64(len(rows)), "served": 0}
	for _, one := range seconds {
		f["served"] += one.served
		f["held_total_ms"] += one.inFlight * 1000
	}
	f["refused"] = f["offered"] - f["served"]
	f["mean_ms"] = latency / f["served"] / 1e6
	s.steps(f, seconds)
	s.judged(f, seconds)
	s.unjudged(f, seconds)
	return f, nil
}

// seconds sorts what happened into seconds.
func (s *limitsSettings) seconds(rows []row) (seconds []limitsSecond, latency float64, err error) {
	seconds = make([]limitsSecond, s.ForS)
	for i := range seconds {
		one := &seconds[i]
		since := int64(0)
		for j, p := range s.Phases {
			if p.AtS <= int64(i) {
				one.phase = j
				if p.Step {
					since = p.AtS + s.allowed(j)
				}
			}
		}
		one.judged = s.Phases[one.phase].Judged && int64(i) >= since
	}
	type move struct{ at, by int64 }
	var moves []move
	for _, r := range rows {
		if r.kind != "r" || r.arrived < 0 || r.arrived >= s.ForS*nsPerS || r.ended < r.arrived {
			return nil, 0, fmt.Errorf("a row of kind %q from %d to %d", r.kind, r.arrived, r.ended)
		}
		one := &seconds[r.arrived/nsPerS]
		one.offered++
		if r.reason == "served" {
			one.served++
			latency += float64(r.ended - r.arrived)
			if r.ended < s.ForS*nsPerS {
				seconds[r.ended/nsPerS].answered++
			}
		} else {
			one.missed++
		}
		if r.flag&1 != 0 {
			moves = append(moves, move{r.started, 1}, move{r.ended, -1})
		}
	}
	slices.SortFunc(moves, func(a, b move) int {
		switch {
		case a.at < b.at:
			return -1
		case a.at > b.at:
			return 1
		}
		return 0
	})
	var level, from int64
	for _, m := range append(moves, move{s.ForS * nsPerS, 0}) {
		for from < m.at {
			second := from / nsPerS
			until := min(m.at, (second+1)*nsPerS)
			if second < s.ForS {
				seconds[second].inFlight += float64(level*(until-from)) / nsPerS
			}
			from = until
		}
		level += m.by
	}
	return seconds, latency, nil
}

// allowed is the later of 5 s and 250 service times.
func (s *limitsSettings) allowed(phase int) int64 {
	mean := limitsServiceS * math.Max(s.Phases[phase].Slower, 1)
	if s.Mixed {
		mean = mean * 10 / 6
	}
	return max(5, int64(math.Ceil(math.Round(250*mean*1e6)/1e6)))
}

func (s *limitsSettings) could(phase int) float64 {
	if s.Phases[phase].Slower == 0 {
		return 0
	}
	return s.Phases[phase].Capacity / limitsServiceS / s.Phases[phase].Slower
}

// steps is how soon each change was found.
func (s *limitsSettings) steps(f figures, seconds []limitsSecond) {
	n := 0
	for i, p := range s.Phases {
		if !p.Step {
			continue
		}
		end := s.ForS
		for _, later := range s.Phases[i+1:] {
			if later.Step || !later.Judged {
				end = later.AtS
				break
			}
		}
		path := fmt.Sprintf("steps.%d.", n)
		n++
		f[path+"at_s"], f[path+"capacity"], f[path+"allowed_s"] = float64(p.AtS), p.Capacity, float64(s.allowed(i))
		f[path+"found_s"] = math.NaN()
		for at := p.AtS; at+limitsInARow <= end; at++ {
			all := true
			for _, one := range seconds[at : at+limitsInARow] {
				capacity := s.Phases[one.phase].Capacity
				all = all && math.Abs(one.inFlight-capacity) <= limitsFound*capacity+1e-9
			}
			if all {
				f[path+"found_s"] = float64(at - p.AtS)
				break
			}
		}
	}
}

// judged is what the seconds say in which work in flight should be capacity.
func (s *limitsSettings) judged(f figures, seconds []limitsSecond) {
	var off, within, n, could, answered, longest, row float64
	for _, one := range seconds {
		if !one.judged {
			row = 0
			continue
		}
		n++
		part := one.inFlight / s.Phases[one.phase].Capacity
		off += math.Abs(part - 1)
		if math.Abs(part-1) <= limitsFound+1e-9 {
			within++
		}
		row++
		if part <= limitsOver {
			row = 0
		}
		longest = math.Max(longest, row)
		could += s.could(one.phase)
		answered += one.answered
	}
	f["error"], f["within_share"], f["over_s"], f["wasted_share"] = off/n, within/n, longest, math.NaN()
	if !s.Mixed && n > 0 {
		f["wasted_share"] = math.Max(0, 1-answered/could)
	}
}

// unjudged is all else.
func (s *limitsSettings) unjudged(f figures, seconds []limitsSecond) {
	var out, outs, could, got float64
	worst := math.NaN()
	f["refused_healthy"], f["refused_healthy_first_10_s"], f["most_in_flight"] = 0, 0, 0
	for i, one := range seconds {
		p := s.Phases[one.phase]
		f["most_in_flight"] = math.Max(f["most_in_flight"], one.inFlight)
		if p.Slower == 0 && (i+10 >= len(seconds) || seconds[i+10].phase != one.phase) {
			out += one.inFlight
			outs++
		}
		switch {
		case p.Load < 1 && p.Slower == 1 && i < 10:
			f["refused_healthy_first_10_s"] += one.missed
		case p.Load < 1 && p.Slower == 1:
			f["refused_healthy"] += one.missed
		}
		most := math.Min(s.could(one.phase), one.offered)
		if s.Mixed || most == 0 {
			continue
		}
		could += most
		got += math.Min(one.answered, most)
		if i >= 5 && !(one.answered/most >= worst) {
			worst = one.answered / most
		}
	}
	f["in_flight_while_out"], f["goodput_share"], f["worst_second_goodput_share"] = out/outs, got/could, worst
	last := seconds[max(0, len(seconds)-60):]
	var mean, squares float64
	for _, one := range last {
		mean += one.inFlight / float64(len(last))
	}
	for _, one := range last {
		squares += (one.inFlight - mean) * (one.inFlight - mean) / float64(len(last))
	}
	f["variation_last_minute"] = math.Sqrt(squares) / mean
	each := 1
	if len(seconds) > 240 {
		each = 10
	}
	for i := 0; i < len(seconds); i += each {
		sum := 0.0
		part := seconds[i:min(i+each, len(seconds))]
		for _, one := range part {
			sum += one.inFlight
		}
		f[fmt.Sprintf("in_flight.%d", i/each)] = sum / float64(len(part))
	}
}

// limitsWhole verifies the summary: means, counts and extremes over a law's arms.
func (c *checker) limitsWhole(raw []byte) error {
	var written struct {
		Summary map[string]any `json:"summary"`
	}
	if err := json.Unmarshal(raw, &written); err != nil {
		return fmt.Errorf("results: %w", err)
	}
	of := map[string]map[string]figures{}
	for _, arm := range c.plan.Arms {
		var s limitsSettings
		if err := json.Unmarshal(arm.Settings, &s); err != nil {
			return fmt.Errorf("arm %s: settings: %w", arm.Name, err)
		}
		if of[s.Law] == nil {
			of[s.Law] = map[string]figures{}
		}
		of[s.Law][s.Scenario] = c.figures[arm.Name]
	}
	c.same("summary", fmt.Sprint(len(written.Summary)), fmt.Sprint(len(of)))
	for law, scenarios := range of { // order does not matter: mismatches name their place
		found := limitsSummary(scenarios)
		said := figures{}
		said.flatten("", written.Summary[law])
		for name, v := range found {
			c.out.Figures++
			w, known := said[name]
			if !known || !agrees(name, w, v) {
				c.mismatch("summary."+law+"."+name, show(w), show(v))
			}
		}
	}
	return nil
}

func limitsSummary(scenarios map[string]figures) figures {
	f := figures{"steps": 0, "steps_in_time": 0, "slowest_in_allowed": 0, "over_s": 0, "refused_healthy": 0, "refused_healthy_first_10_s": 0,
		"surge_worst_second_goodput_share": math.NaN(), "overload_mean_ms": math.NaN()}
	sums, counts := map[string]float64{}, map[string]float64{}
	for scenario, arm := range scenarios {
		for i := 0; ; i++ {
			path := fmt.Sprintf("steps.%d.", i)
			allowed, known := arm[path+"allowed_s"]
			if !known {
				break
			}
			f["steps"]++
			part := arm[path+"found_s"] / allowed
			f["slowest_in_allowed"] = math.Max(f["slowest_in_allowed"], part) // of what is unknown and anything, unknown
			if part <= 1 {
				f["steps_in_time"]++
			}
		}
		f["over_s"] = math.Max(f["over_s"], arm["over_s"])
		for _, name := range []string{"error", "within_share", "wasted_share"} {
			if v := arm[name]; !math.IsNaN(v) {
				sums[name] += v
				counts[name]++
			}
		}
		switch scenario {
		case "healthy":
			f["refused_healthy"], f["refused_healthy_first_10_s"] = arm["refused_healthy"], arm["refused_healthy_first_10_s"]
		case "surge":
			f["surge_worst_second_goodput_share"] = arm["worst_second_goodput_share"]
		case "overload":
			f["overload_mean_ms"] = arm["mean_ms"]
		}
	}
	for _, name := range []string{"error", "within_share", "wasted_share"} {
		f[name] = sums[name] / counts[name]
	}
	return f
}
