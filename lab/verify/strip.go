package verify

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
)

type stripSettings struct {
	Policy     string  `json:"policy"`
	Load       float64 `json:"load_factor"`
	Seed       float64 `json:"seed"`
	Slots      float64 `json:"slots"`
	ServiceMs  float64 `json:"service_ms"`
	DeadlineMs float64 `json:"deadline_ms"`
	FromS      float64 `json:"from_s"`
	ToS        float64 `json:"to_s"`
	AfterS     float64 `json:"after_s"`
	DipS       float64 `json:"dip_s"`
}

// The flags of a keystroke.
const (
	hitPrimary = 1 << iota
	hitGeneral
	hitList
	typedAgain
)

// stripRungs are all that can answer.
var stripRungs = []string{"personalised", "session_cache", "second_model", "frequency_list", "refused"}

// stripFigures computes what lab strip says of an arm, from the keystrokes alone:
// those of a sentence are put together first and looked at one after the other.
func stripFigures(text json.RawMessage, rows []row) (figures, error) {
	var s stripSettings
	if err := json.Unmarshal(text, &s); err != nil {
		return nil, fmt.Errorf("settings: %w", err)
	}
	if !(s.ToS > s.FromS && s.ToS+s.AfterS < 10_000 && s.Slots > 0 && s.ServiceMs > 0) {
		return nil, fmt.Errorf("settings: judged from %v to %v s, %v slots of %v ms", s.FromS, s.ToS, s.Slots, s.ServiceMs)
	}
	f := figures{"load_factor": s.Load, "seed": s.Seed, "slots": s.Slots, "seconds_to_full": math.NaN(), "direction_changes": 0}
	var judged []row
	for _, r := range rows {
		if at := float64(r.scheduled) / 1e9; r.kind == "t" && at >= s.FromS && at < s.ToS {
			judged = append(judged, r)
		}
	}
	s.counts(f, judged)
	s.flips(f, judged)
	s.slices(f, judged)
	s.way(f, rows)
	return f, nil
}

// own reports whether an answer is personalised.
func (r *row) own() bool { return r.class == "personalised" || r.class == "session_cache" }

func (s *stripSettings) counts(f figures, rows []row) {
	n := float64(len(rows))
	byRung, byReason := map[string]float64{}, map[string]float64{}
	var late, hits, primary, list float64
	var latencies []int64
	for i := range rows {
		r := &rows[i]
		primary += bit(r.flag, hitPrimary)
		list += bit(r.flag, hitList)
		if r.ended < 0 {
			late++
			continue
		}
		byRung[r.class]++
		byReason[r.reason]++
		latencies = append(latencies, r.ended-r.scheduled)
		if float64(r.ended-r.scheduled) > s.DeadlineMs*1e6 || r.class == "refused" {
			late++
			continue
		}
		switch r.class {
		case "personalised", "session_cache":
			hits += bit(r.flag, hitPrimary)
		case "second_model":
			hits += bit(r.flag, hitGeneral)
		case "frequency_list":
			hits += bit(r.flag, hitList)
		}
	}
	for _, name := range stripRungs {
		f["answered."+name] = byRung[name]
	}
	if missing := n - float64(len(latencies)); missing > 0 {
		f["answered.unanswered"] = missing
	}
	for name, k := range byReason { // order does not matter: each by itself
		f["reasons."+name] = k
	}
	seconds, own := s.ToS-s.FromS, byRung["personalised"]+byRung["session_cache"]
	f["offered_per_s"], f["personalised_per_s"], f["scorer_per_s"] = n/seconds, own/seconds, byRung["personalised"]/seconds
	f["shed_share"] = part(n-own, n)
	f["ideal_shed_share"] = math.Max(0, 1-s.Slots/s.ServiceMs*1000/(n/seconds))
	f["late_share"], f["on_time_share"] = part(late, n), part(n-late, n)
	f["hit_at_3"], f["hit_at_3_all_primary"], f["hit_at_3_all_list"] = part(hits, n), part(primary, n), part(list, n)
	f["shed_for_load_share"] = part(byReason["shed_for_load"], n)
	f["failed_share"] = part(byReason["failed"]+byReason["timeout"]+byReason["unknown"]+byReason["breaker_open"], n)
	f["p99_ms"] = math.NaN()
	if k := len(latencies); k > 0 {
		slices.Sort(latencies)
		f["p99_ms"] = float64(latencies[int(math.Ceil(0.99*float64(k)-1e-9))-1]) / 1e6
	}
}

func bit(flag, which int64) float64 {
	if flag&which != 0 {
		return 1
	}
	return 0
}

func part(n, of float64) float64 {
	if of == 0 {
		return math.NaN()
	}
	return n / of
}

func (s *stripSettings) flips(f figures, rows []row) {
	sentences := map[[2]int64][]*row{}
	for i := range rows {
		if r := &rows[i]; r.ended >= 0 {
			at := [2]int64{r.stream, r.cost}
			sentences[at] = append(sentences[at], r)
		}
	}
	words, flipped := 0.0, 0.0
	for _, of := range sentences { // order does not matter: sums
		slices.SortStableFunc(of, func(a, b *row) int { return int(a.number - b.number) })
		words += wordFlips(of)
		said := map[int64]bool{}
		for _, r := range of {
			if was, known := said[r.importance]; known && was != r.own() {
				flipped++
				break
			}
			said[r.importance] = r.own()
		}
	}
	f["flips_in_word"] = words
	f["flips_in_sentence_share"] = part(flipped, float64(len(sentences)))
}

// wordFlips counts, in each word of a sentence, the changes beyond one step down.
func wordFlips(of []*row) (n float64) {
	for i := 0; i < len(of); {
		j := i + 1
		ups, downs := 0, 0
		for ; j < len(of) && of[j].bytes == of[i].bytes; j++ {
			switch was, is := of[j-1].own(), of[j].own(); {
			case is && !was:
				ups++
			case was && !is:
				downs++
			}
		}
		n += float64(ups + max(downs-1, 0))
		i = j
	}
	return n
}

// slices compares those who were shed with those who were not, in the bucket in which
// there are most of both.
func (s *stripSettings) slices(f figures, rows []row) {
	type side struct{ n, hit float64 }
	shed, full := map[int64]*side{}, map[int64]*side{}
	for i := range rows {
		r := &rows[i]
		if r.flag&typedAgain != 0 {
			continue
		}
		of, hit := shed, bit(r.flag, hitList)
		switch {
		case r.class == "personalised":
			of, hit = full, bit(r.flag, hitPrimary)
		case r.reason != "shed_for_load":
			continue
		case r.class == "second_model":
			hit = bit(r.flag, hitGeneral)
		case r.class == "session_cache":
			hit = bit(r.flag, hitPrimary)
		case r.class == "refused":
			hit = 0
		}
		if of[r.importance] == nil {
			of[r.importance] = &side{}
		}
		of[r.importance].n++
		of[r.importance].hit += hit
	}
	var in, out side
	for bucket := int64(0); bucket < 64; bucket++ {
		a, b := shed[bucket], full[bucket]
		if a == nil {
			a = &side{}
		}
		if b == nil {
			b = &side{}
		}
		if bucket == 0 || math.Min(a.n, b.n) > math.Min(in.n, out.n) {
			in, out = *a, *b
		}
	}
	f["slice_n"], f["outside_n"] = in.n, out.n
	f["slice_hit"], f["outside_hit"] = part(in.hit, in.n), part(out.hit, out.n)
}

// way looks at the seconds after the load's end, or from the dip on.
func (s *stripSettings) way(f figures, rows []row) {
	if s.AfterS <= 0 && s.DipS <= 0 {
		return
	}
	end := int(s.ToS + s.AfterS)
	shed, all := make([]float64, end+1), make([]float64, end+1)
	for i := range rows {
		r := &rows[i]
		second := int(r.scheduled / nsPerS)
		if r.kind != "t" || second >= end {
			continue
		}
		all[second]++
		if !r.own() {
			shed[second]++
		}
	}
	of := func(second int) float64 {
		if all[second] == 0 {
			return 0
		}
		return 1 - (all[second]-shed[second])/all[second]
	}
	from := int((s.FromS + s.ToS) / 2)
	if s.AfterS > 0 {
		from = int(s.ToS)
		full := from
		for second := from; second < end; second++ {
			if of(second) > 1-0.99 {
				full = second + 1
			}
		}
		if full < end {
			f["seconds_to_full"] = float64(full) - s.ToS
		}
	}
	// A turn is where the course has come more than three points from its furthest
	// since the turn before.
	furthest, way, turns := [2]float64{of(from - 1), of(from - 1)}, 0, 0.0 // least, most
	for second := from; second < end; second++ {
		x := of(second)
		switch {
		case way >= 0 && x < furthest[1]-0.03:
			turns += math.Max(0, float64(way))
			way, furthest = -1, [2]float64{x, x}
		case way <= 0 && x > furthest[0]+0.03:
			turns += math.Max(0, float64(-way))
			way, furthest = 1, [2]float64{x, x}
		}
		furthest = [2]float64{math.Min(furthest[0], x), math.Max(furthest[1], x)}
	}
	f["direction_changes"] = turns
}
