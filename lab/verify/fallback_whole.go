package verify

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
)

// fallbackDocument is what lab fallback writes beside its arms.
type fallbackDocument struct {
	Tipping     map[string]map[string]float64 `json:"tipping"`
	Comparisons []struct {
		A       string  `json:"a"`
		B       string  `json:"b"`
		Figure  string  `json:"figure"`
		MedA    float64 `json:"median_a"`
		MedB    float64 `json:"median_b"`
		Lower   float64 `json:"lower"`
		Higher  float64 `json:"higher"`
		Verdict string  `json:"verdict"`
	} `json:"comparisons"`
	Ranking []struct {
		Arm      string  `json:"arm"`
		Missed   float64 `json:"not_answered_share"`
		Calls    float64 `json:"calls_per_request"`
		P99Ms    float64 `json:"p99_ms"`
		Tipped   float64 `json:"tipped"`
		Eligible bool    `json:"eligible"`
	} `json:"ranking"`
	Timeline map[string][]map[string]float64 `json:"timeline"`
	Frozen   *struct {
		Request int64             `json:"request"`
		DrawnMs float64           `json:"drawn_ms"`
		Arms    map[string][]step `json:"arms"`
	} `json:"frozen"`
	Arms map[string]struct {
		Rounds []struct {
			Tipped bool `json:"tipped"`
		} `json:"rounds"`
	} `json:"arms"`
}

// step is one thing that happened to a request.
type step struct {
	AtMs    float64 `json:"at_ms"`
	Attempt int64   `json:"attempt"`
	What    string  `json:"what"`
}

// walk keeps what happened in an arm to the first request of the first round, a
// second or more after its start, whose first lookup hung.
func (c *checker) walk(name string, rounds [][]*asked) {
	if len(rounds) == 0 {
		return
	}
	var found *asked
	for _, a := range rounds[0] {
		if a.flag&1 != 0 && a.scheduled >= 1e9 && (found == nil || a.number < found.number) {
			found = a
		}
	}
	if found == nil {
		return
	}
	at := func(ns, attempt int64, what string) step {
		return step{float64(ns-found.scheduled) / 1e6, attempt, what}
	}
	path := []step{at(found.scheduled, 0, "arrives"), at(found.arrived, 0, "begins"), at(found.started, 0, "decided"), at(found.ended, 0, found.class)}
	for _, l := range found.lookups {
		path = append(path, at(l.arrived, l.attempt, "sent"), at(l.ended, l.attempt, l.class))
		if l.started >= 0 {
			path = append(path, at(l.started, l.attempt, "slot"))
		}
	}
	if c.paths == nil {
		c.paths = map[string][]step{}
	}
	c.paths[name] = path
}

// tippedOf counts in a file of ends of rounds how many have tipped.
func (c *checker) tippedOf(dir, name string, s *fallbackSettings) (tipped, rounds int, err error) {
	rows, err := c.extra(dir, name)
	if err != nil {
		return 0, 0, err
	}
	for _, round := range byRound(rows) {
		rounds++
		if hasTipped(s, round) {
			tipped++
		}
	}
	return tipped, rounds, nil
}

// extra reads a file of records that is no arm's, and verifies what is written of
// it.
func (c *checker) extra(dir, name string) ([]row, error) {
	file, err := readArm(dir, name)
	if err != nil {
		return nil, err
	}
	kept := c.results.Records[name]
	c.out.Rows += int64(len(file.rows))
	c.same("records."+name+".rows", fmt.Sprint(kept.Rows), fmt.Sprint(len(file.rows)))
	c.same("records."+name+".sha256", kept.SHA256, file.sha256)
	c.same("records."+name+".header", file.header, fmt.Sprintf("# %s lab=%s arm=%s plan=sha256:%s", format, c.plan.Lab, name, c.hash))
	return file.rows, nil
}

// near verifies one number.
func (c *checker) near(where string, written, found float64) {
	c.out.Figures++
	if !agrees("", written, found) {
		c.mismatch(where, show(written), show(found))
	}
}

// fallbackWhole verifies what lab fallback makes of several arms.
func (c *checker) fallbackWhole(dir string, raw []byte) error {
	var d fallbackDocument
	if err := json.Unmarshal(raw, &d); err != nil {
		return fmt.Errorf("results.json: %w", err)
	}
	for _, arm := range slices.Sorted(maps.Keys(d.Tipping)) {
		for _, figure := range slices.Sorted(maps.Keys(d.Tipping[arm])) {
			c.near("tipping."+arm+"."+figure, d.Tipping[arm][figure], c.lookup(arm, "tipping."+figure))
		}
	}
	for _, arm := range slices.Sorted(maps.Keys(d.Arms)) {
		for i, round := range d.Arms[arm].Rounds {
			c.out.Verdicts++
			if i < len(c.tipped[arm]) {
				c.same(fmt.Sprintf("arms.%s.rounds.%d.tipped", arm, i), fmt.Sprint(round.Tipped), fmt.Sprint(c.tipped[arm][i]))
			}
		}
	}
	c.compared(&d)
	c.ranked(&d)
	for _, arm := range slices.Sorted(maps.Keys(d.Timeline)) {
		rows, err := c.extra(dir, "timeline-"+arm)
		if err != nil {
			return err
		}
		c.timeline(arm, d.Timeline[arm], rows)
	}
	if d.Frozen != nil {
		for _, arm := range slices.Sorted(maps.Keys(d.Frozen.Arms)) {
			c.out.Figures += len(d.Frozen.Arms[arm])
			c.same("frozen."+arm, pathText(d.Frozen.Arms[arm]), pathText(c.paths[arm]))
		}
	}
	return nil
}

// pathText writes a path in an order that depends on what happened alone.
func pathText(p []step) string {
	lines := make([]string, 0, len(p))
	for _, s := range p {
		lines = append(lines, fmt.Sprintf("%015.6f %s %d", s.AtMs, s.What, s.Attempt))
	}
	slices.Sort(lines)
	return strings.Join(lines, ", ")
}

// compared verifies every verdict on two arms.
func (c *checker) compared(d *fallbackDocument) {
	for i, v := range d.Comparisons {
		c.out.Verdicts++
		where := fmt.Sprintf("comparisons.%d (%s, %s, %s)", i, v.A, v.B, v.Figure)
		lower, higher, n := 0, 0, 0
		for {
			path := fmt.Sprintf("rounds.%d.%s", n, v.Figure)
			a, b := c.lookup(v.A, path), c.lookup(v.B, path)
			if math.IsNaN(a) || math.IsNaN(b) {
				break
			}
			n++
			if a < b {
				lower++
			}
			if a > b {
				higher++
			}
		}
		verdict := "too close to call"
		if n >= 3 && lower == n {
			verdict = "clearly lower"
		}
		if n >= 3 && higher == n {
			verdict = "clearly higher"
		}
		c.near(where+" lower", v.Lower, float64(lower))
		c.near(where+" higher", v.Higher, float64(higher))
		c.near(where+" median_a", v.MedA, c.lookup(v.A, "median."+v.Figure))
		c.near(where+" median_b", v.MedB, c.lookup(v.B, "median."+v.Figure))
		c.same(where+" verdict", v.Verdict, verdict)
	}
}

// ranked verifies which defence is best.
func (c *checker) ranked(d *fallbackDocument) {
	for i, v := range d.Ranking {
		c.out.Verdicts++
		where := fmt.Sprintf("ranking.%d (%s)", i, v.Arm)
		requests, missed, calls := 0.0, 0.0, 0.0
		tipped := 0.0
		for n := 0; ; n++ {
			get := func(figure string) float64 { return c.lookup(v.Arm, fmt.Sprintf("rounds.%d.%s", n, figure)) }
			all := get("requests")
			if math.IsNaN(all) {
				break
			}
			requests += all
			missed += math.Round(all * (get("stand_in_share") + get("error_share")))
			calls += math.Round(all * get("calls_per_request"))
			if n < len(d.Arms[v.Arm].Rounds) && d.Arms[v.Arm].Rounds[n].Tipped {
				tipped++
			}
		}
		tipped = math.Max(tipped, c.lookup(v.Arm, "tipping.tipped"))
		c.near(where+" not_answered_share", v.Missed, missed/requests)
		c.near(where+" calls_per_request", v.Calls, calls/requests)
		c.near(where+" p99_ms", v.P99Ms, c.lookup(v.Arm, "median.p99_ms"))
		c.near(where+" tipped", v.Tipped, tipped)
		c.same(where+" eligible", fmt.Sprint(v.Eligible), fmt.Sprint(tipped == 0 && calls <= 1.1*requests))
		if i == 0 {
			continue
		}
		before := d.Ranking[i-1]
		if v.Eligible && !before.Eligible || v.Eligible == before.Eligible && v.Missed < before.Missed-1e-6 {
			c.mismatch(where, "after "+before.Arm, "before it: it leaves fewer unanswered")
		}
	}
}

// timeline verifies a round second by second.
func (c *checker) timeline(arm string, written []map[string]float64, rows []row) {
	for i, second := range written {
		from, to := int64(i)*1e9, int64(i+1)*1e9
		within := func(t int64) bool { return from <= t && t < to }
		found := map[string]float64{"s": float64(i), "offered": 0, "stand_ins": 0, "calls": 0, "busy": 0, "waiting": 0}
		for _, r := range rows {
			switch {
			case r.kind == "q" && within(r.scheduled):
				found["offered"]++
				if r.class != "served" {
					found["stand_ins"]++
				}
			case r.kind == "l":
				if within(r.arrived) {
					found["calls"]++
				}
				leaves := r.ended
				if r.started >= 0 {
					leaves = r.started
					found["busy"] += math.Max(0, float64(min(to, r.ended)-max(from, r.started))) / 1e9
				}
				if r.arrived < to && leaves >= to {
					found["waiting"]++
				}
			}
		}
		for _, figure := range slices.Sorted(maps.Keys(found)) {
			c.near(fmt.Sprintf("timeline.%s.%d.%s", arm, i, figure), second[figure], found[figure])
		}
	}
}
