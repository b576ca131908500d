package strip

import (
	"slices"

	"github.com/spillway-dev/spillway/policy/reason"
	"github.com/spillway-dev/spillway/policy/shed"
	"github.com/spillway-dev/spillway/policy/unit"
	"github.com/spillway-dev/spillway/report"
)

// Result is one arm's figures, of the keystrokes that are judged unless said
// otherwise.
type Result struct {
	Policy string        `json:"policy"`
	Load   report.Number `json:"load_factor"`
	Seed   uint64        `json:"seed"`
	Slots  int           `json:"slots"`

	OfferedPerS      report.Number `json:"offered_per_s"`
	PersonalisedPerS report.Number `json:"personalised_per_s"`
	// ScorerPerS is without the session cache: what the scorer itself answered.
	ScorerPerS    report.Number `json:"scorer_per_s"`
	ShedShare     report.Number `json:"shed_share"`
	IdealShare    report.Number `json:"ideal_shed_share"` // 1 - capacity / offered, at least 0
	OnTimeShare   report.Number `json:"on_time_share"`
	P99Ms         report.Number `json:"p99_ms"` // of all that was answered
	Hit           report.Number `json:"hit_at_3"`
	HitAllPrimary report.Number `json:"hit_at_3_all_primary"`
	HitAllList    report.Number `json:"hit_at_3_all_list"`

	FlipsInWord     int64         `json:"flips_in_word"`
	FlipsInSentence report.Number `json:"flips_in_sentence_share"` // sentences with one

	// ShedForLoad and Failed are shares of what was offered by the reason of the
	// answer, whatever rung gave it: what was given up beforehand, and what was tried
	// and did not come. Late is what was let in and answered after the deadline or not
	// at all.
	ShedForLoad report.Number    `json:"shed_for_load_share"`
	Failed      report.Number    `json:"failed_share"`
	Late        report.Number    `json:"late_share"`
	Answered    map[string]int64 `json:"answered"` // by rung
	Reasons     map[string]int64 `json:"reasons"`

	// In the gap bucket that the cut goes through, the sessions in the slice that was
	// shed beside those outside: two populations of like keystrokes.
	SliceHit   report.Number `json:"slice_hit"`
	OutsideHit report.Number `json:"outside_hit"`
	SliceN     int64         `json:"slice_n"`
	OutsideN   int64         `json:"outside_n"`

	// SecondsToFull is how long after the load's end every second has 99 % of its
	// keystrokes personalised; DirectionChanges how often the share that was shed, by
	// seconds, has changed its direction by more than three points: from the load's end
	// on, or with a dip from its beginning on.
	SecondsToFull    report.Number `json:"seconds_to_full"`
	DirectionChanges int64         `json:"direction_changes"`

	shares []report.Number // that was shed, by seconds from UpS on
}

// Failures are the reasons of answers whose scorer was tried and did not answer.
func failure(why reason.Reason) bool {
	switch why {
	case reason.Timeout, reason.Unknown, reason.Failed, reason.BreakerOpen:
		return true
	}
	return false
}

func (r *run) figures() *Result {
	f := &Result{
		Policy: r.Policy, Load: report.Number(r.Load), Seed: r.Seed, Slots: r.Slots,
		Answered: map[string]int64{}, Reasons: map[string]int64{}, SecondsToFull: report.None(),
	}
	for _, name := range rungs[1:] {
		f.Answered[name] = 0
	}
	from, to := sec(r.FromS), sec(r.ToS)
	var n, personal, scorer, late, onTime, hit, primary, list, shedN, failed int64
	var latencies []unit.Instant
	for i := range r.typed {
		t, a := &r.typed[i], &r.answers[i]
		if t.at < from || t.at >= to {
			continue
		}
		n++
		f.Answered[rungs[a.rung]]++
		primary += one(t.stroke.primary)
		list += one(t.stroke.list)
		if a.rung == 0 {
			late++
			continue
		}
		f.Reasons[a.reason.String()]++
		latency := a.at - unit.Instant(t.at)
		latencies = append(latencies, latency)
		shedN += one(a.reason == reason.ShedForLoad)
		failed += one(failure(a.reason))
		personal += one(personalRung(a.rung))
		scorer += one(rungs[a.rung] == personalised)
		if latency > unit.Instant(ms(r.DeadlineMs)) || rungs[a.rung] == refused {
			late++
			continue
		}
		onTime++
		hit += one(t.hit(a.rung))
	}
	seconds := (to - from).Seconds()
	f.OfferedPerS, f.PersonalisedPerS = report.Number(float64(n)/seconds), report.Number(float64(personal)/seconds)
	f.ScorerPerS = report.Number(float64(scorer) / seconds)
	f.ShedShare = share(n-personal, n)
	f.IdealShare = max(1-report.Number(r.capacity())/f.OfferedPerS, 0)
	f.OnTimeShare, f.Late = share(onTime, n), share(late, n)
	f.Hit, f.HitAllPrimary, f.HitAllList = share(hit, n), share(primary, n), share(list, n)
	f.ShedForLoad, f.Failed = share(shedN, n), share(failed, n)
	f.P99Ms = report.None()
	if k := len(latencies); k > 0 {
		slices.Sort(latencies)
		f.P99Ms = report.Number(float64(latencies[(99*k+99)/100-1]) / 1e6)
	}
	r.flips(f)
	r.slice(f)
	r.release(f)
	return f
}

// personalRung reports whether an answer is the writer's own: the scorer's, now or
// when the same was asked before.
func personalRung(rung uint8) bool {
	return rungs[rung] == personalised || rungs[rung] == sessionCache
}

// hit reports whether that rung's suggestions hold the word.
func (t *typed) hit(rung uint8) bool {
	switch rungs[rung] {
	case personalised, sessionCache:
		return t.stroke.primary
	case secondModel:
		return t.stroke.general
	case frequencyList:
		return t.stroke.list
	}
	return false
}

// flips counts changes of the rung where there should be none: in a word every one
// but the first step down; in a sentence one from what the same gap bucket was
// answered with before.
func (r *run) flips(f *Result) {
	type place struct{ session, serial int32 }
	type said struct {
		word    uint16
		rung    bool // personal
		down    bool // in this word
		any     bool
		flipped bool
		buckets [shed.Buckets]uint8 // 0: nothing yet, 1 personal, 2 not
	}
	all := map[place]*said{}
	flipped := int64(0)
	for i := range r.typed {
		t, a := &r.typed[i], &r.answers[i]
		if t.at < sec(r.FromS) || t.at >= sec(r.ToS) || a.rung == 0 {
			continue
		}
		p := place{t.session, t.serial}
		s := all[p]
		if s == nil {
			s = &said{}
			all[p] = s
		}
		now := personalRung(a.rung)
		if !s.any || s.word != t.stroke.word {
			s.any, s.word, s.down = true, t.stroke.word, false
		} else if now != s.rung {
			f.FlipsInWord += one(now || s.down)
			s.down = s.down || !now
		}
		s.rung = now
		mark := uint8(2 - one(now))
		if b := &s.buckets[r.gaps[i].Bucket()]; *b == 0 {
			*b = mark
		} else if *b != mark && !s.flipped {
			s.flipped = true
			flipped++
		}
	}
	f.FlipsInSentence = share(flipped, int64(len(all)))
}

// slice compares, in the bucket of gaps in which most of both are, sessions that were
// shed with sessions that were not.
func (r *run) slice(f *Result) {
	var n, hit [shed.Buckets][2]int64
	for i := range r.typed {
		t, a := &r.typed[i], &r.answers[i]
		if t.at < sec(r.FromS) || t.at >= sec(r.ToS) || t.again {
			continue
		}
		side := 0 // shed
		switch {
		case rungs[a.rung] == personalised:
			side = 1
		case a.reason != reason.ShedForLoad:
			continue
		}
		b := r.gaps[i].Bucket()
		n[b][side]++
		hit[b][side] += one(t.hit(a.rung))
	}
	best := 0
	for b := range n {
		if min(n[b][0], n[b][1]) > min(n[best][0], n[best][1]) {
			best = b
		}
	}
	f.SliceN, f.OutsideN = n[best][0], n[best][1]
	f.SliceHit, f.OutsideHit = share(hit[best][0], n[best][0]), share(hit[best][1], n[best][1])
}

// grain is that of what is said of the way back: of some thousand keystrokes in it,
// typed by some hundred writers, one point more or less is chance.
const grain = 1.0

// fullFrom and turn: what counts as full service and as a change of direction.
const (
	fullFrom = 0.99
	turn     = 0.03
)

// release looks at the shed share by seconds.
func (r *run) release(f *Result) {
	end := r.ToS + r.AfterS
	bins := make([][2]int64, int(end/grain)+1)
	for i := range r.typed {
		b := int(r.typed[i].at / sec(grain))
		bins[b][0]++
		bins[b][1] += one(personalRung(r.answers[i].rung))
	}
	course := make([]float64, len(bins))
	for i, b := range bins {
		if b[0] > 0 {
			course[i] = 1 - float64(b[1])/float64(b[0])
		}
	}
	for i := int(r.UpS / grain); i < int(end/grain); i++ {
		f.shares = append(f.shares, report.Number(course[i]))
	}
	from := (r.FromS + r.ToS) / 2
	if r.AfterS > 0 {
		from = r.ToS
		last := -1
		for i := int(r.ToS / grain); i < int(end/grain); i++ {
			if course[i] > 1-fullFrom {
				last = i
			}
		}
		switch {
		case last < 0:
			f.SecondsToFull = 0
		case last < int(end/grain)-1:
			f.SecondsToFull = report.Number(float64(last+1)*grain - r.ToS)
		}
	}
	if r.AfterS > 0 || r.DipS > 0 {
		f.DirectionChanges = turns(course[int(from/grain)-1 : int(end/grain)])
	}
}

// turns counts how often a course changes its direction, by more than turn.
func turns(course []float64) (n int64) {
	if len(course) == 0 {
		return 0
	}
	low, high, direction := course[0], course[0], 0
	for _, x := range course[1:] {
		switch {
		case x > low+turn && direction <= 0:
			n += one(direction < 0)
			direction, high = +1, x
		case x < high-turn && direction >= 0:
			n += one(direction > 0)
			direction, low = -1, x
		}
		if direction >= 0 {
			high = max(high, x)
		}
		if direction <= 0 {
			low = min(low, x)
		}
		if direction > 0 {
			low = high
		} else if direction < 0 {
			high = low
		}
	}
	return n
}
