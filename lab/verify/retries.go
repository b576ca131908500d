package verify

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
)

type retriesSettings struct {
	PerS     float64 `json:"load_per_s"`
	Rounds   int     `json:"rounds"`
	ForS     int64   `json:"for_s"`
	OutageS  int64   `json:"outage_s"`
	OutForS  int64   `json:"out_for_s"`
	TimeoutS int64   `json:"timeout_s"`
}

const (
	nsPerS       = 1_000_000_000
	retriesAfter = 50 // seconds at the end
)

// caller is one of those who asked, in one round.
type caller struct {
	asked    int64
	answered bool
}

// retriesFigures computes what lab retries says of an arm: round by round from the
// callers that the rows name, not from counters.
func retriesFigures(text json.RawMessage, rows []row) (figures, error) {
	var s retriesSettings
	if err := json.Unmarshal(text, &s); err != nil {
		return nil, fmt.Errorf("settings: %w", err)
	}
	if s.Rounds < 1 || s.Rounds > 1000 || s.ForS <= retriesAfter || s.ForS > 10_000 {
		return nil, fmt.Errorf("settings: %d rounds of %d s", s.Rounds, s.ForS)
	}
	byRound := make([][]row, s.Rounds)
	for _, r := range rows {
		if r.kind != "r" {
			continue
		}
		if r.stream < 0 || r.stream >= int64(s.Rounds) {
			return nil, fmt.Errorf("a row of round %d; there are %d", r.stream, s.Rounds)
		}
		byRound[r.stream] = append(byRound[r.stream], r)
	}
	f := figures{"load_per_s": s.PerS, "recovered": 0}
	columns := map[string][]float64{}
	for i, of := range byRound {
		one, err := s.round(of)
		if err != nil {
			return nil, fmt.Errorf("round %d: %w", i, err)
		}
		for name, v := range one {
			f[fmt.Sprintf("rounds.%d.%s", i, name)] = v
			columns[name] = append(columns[name], v)
		}
		if !math.IsNaN(one["recovered_s"]) {
			f["recovered"]++
		}
	}
	for name, values := range columns {
		slices.SortFunc(values, func(a, b float64) int {
			switch {
			case math.IsNaN(a) && math.IsNaN(b):
				return 0
			case math.IsNaN(a), a > b:
				return 1
			case math.IsNaN(b), a < b:
				return -1
			}
			return 0
		})
		f["median."+name] = values[len(values)/2]
	}
	return f, nil
}

func (s retriesSettings) round(rows []row) (figures, error) {
	callers := map[int64]*caller{}
	var late float64
	for _, r := range rows {
		c := callers[r.number]
		if c == nil {
			c = &caller{asked: math.MaxInt64}
			callers[r.number] = c
		}
		c.asked = min(c.asked, r.arrived) // the first attempt is when it asked
		c.answered = c.answered || r.reason == "served"
		if r.arrived >= (s.ForS-retriesAfter)*nsPerS && r.arrived < s.ForS*nsPerS {
			late++
		}
	}
	asked, answered := make([]float64, s.ForS), make([]float64, s.ForS)
	var all, after float64
	for _, c := range callers {
		second := c.asked / nsPerS
		if second < 0 || second >= s.ForS {
			return nil, fmt.Errorf("a caller asked in second %d; the round has %d", second, s.ForS)
		}
		asked[second]++
		if c.answered {
			all++
			answered[second]++
			if second >= s.ForS-retriesAfter {
				after++
			}
		}
	}
	end := s.OutageS + s.OutForS
	recovered, worst := math.NaN(), 1.0
	for second := s.ForS - 1; second >= 0; second-- {
		share := 1.0
		if asked[second] > 0 {
			share = answered[second] / asked[second]
		}
		if second >= end+2*s.TimeoutS {
			worst = min(worst, share)
		}
		if second >= end && share >= 0.99 && (second == s.ForS-1 || recovered == float64(second+1-end)) {
			recovered = float64(second - end)
		}
	}
	if recovered > float64(s.ForS-end-20) {
		recovered = math.NaN()
	}
	return figures{
		"callers": float64(len(callers)), "answered": all, "attempts": float64(len(rows)),
		"calls_per_request":    float64(len(rows)) / float64(len(callers)),
		"answered_after_per_s": after / retriesAfter, "offered_after_per_s": late / retriesAfter,
		"recovered_s": recovered, "worst_share_after_two_timeouts": worst,
	}, nil
}
