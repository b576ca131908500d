package retries

import (
	"time"

	"github.com/spillway-dev/spillway/policy/reason"
	"github.com/spillway-dev/spillway/report"
	"github.com/spillway-dev/spillway/sim"
)

// timeline counts callers by the second in which they first asked.
type timeline struct {
	asked, answered []int64
	attempts        int64
	late            int64 // offered in the last afterS seconds
}

// afterS: the last so many seconds are what is called afterwards.
const afterS = 50

// lastsS seconds at least must be served to the end of the round for it to be called
// recovered: near capacity a few good seconds are chance.
const lastsS = 20

// healthy is the share of a second's callers that must be answered for it to count
// as served again.
const healthy = 0.99

func newTimeline(s Setting) *timeline {
	return &timeline{asked: make([]int64, s.ForS), answered: make([]int64, s.ForS)}
}

// take takes in an attempt that was answered or given up.
func (t *timeline) take(r *sim.Record) {
	second := int(time.Duration(r.Scheduled) / time.Second)
	t.attempts++
	if offered := int(time.Duration(r.Arrived) / time.Second); offered >= len(t.asked)-afterS && offered < len(t.asked) {
		t.late++
	}
	if r.Attempt == 0 {
		t.asked[second]++
	}
	if r.Reason == reason.Served {
		t.answered[second]++
	}
}

// share returns which share of those who asked in a second was answered; nobody
// counts as all.
func (t *timeline) share(second int) float64 {
	if t.asked[second] == 0 {
		return 1
	}
	return float64(t.answered[second]) / float64(t.asked[second])
}

// Round is what one round came to. Seconds are those in which callers first asked.
type Round struct {
	Callers         int64         `json:"callers"`
	Answered        int64         `json:"answered"`
	Attempts        int64         `json:"attempts"`
	CallsPerRequest report.Number `json:"calls_per_request"`
	// AnsweredAfterPerS and OfferedAfterPerS are of the last 50 seconds: callers who
	// asked then and were answered, attempts that were offered then.
	AnsweredAfterPerS report.Number `json:"answered_after_per_s"`
	OfferedAfterPerS  report.Number `json:"offered_after_per_s"`
	// RecoveredS is how long after the end of the outage the first second begins
	// from which on every second has at least 99 % of its callers answered; unknown
	// if there are not 20 of them.
	RecoveredS report.Number `json:"recovered_s"`
	// WorstShare is the least share of any second that begins two timeouts after
	// the end of the outage or later.
	WorstShare report.Number `json:"worst_share_after_two_timeouts"`
}

func (t *timeline) round(s Setting) *Round {
	r := &Round{Attempts: t.attempts}
	end := s.OutageS + s.OutForS
	worst, healed := 1.0, len(t.asked)
	var after int64
	for second := range t.asked {
		r.Callers += t.asked[second]
		r.Answered += t.answered[second]
		if second >= len(t.asked)-afterS {
			after += t.answered[second]
		}
		if second >= end+2*s.TimeoutS {
			worst = min(worst, t.share(second))
		}
	}
	for healed > end && t.share(healed-1) >= healthy {
		healed--
	}
	r.CallsPerRequest = report.Share(r.Attempts, r.Callers)
	r.AnsweredAfterPerS, r.OfferedAfterPerS = report.PerSecond(after, afterS), report.PerSecond(t.late, afterS)
	r.RecoveredS, r.WorstShare = report.None(), report.Number(worst)
	if healed <= len(t.asked)-lastsS {
		r.RecoveredS = report.Number(healed - end)
	}
	return r
}

// course is the share that was answered, by second.
func (t *timeline) course() []report.Number {
	shares := make([]report.Number, len(t.asked))
	for i := range shares {
		shares[i] = report.Number(t.share(i))
	}
	return shares
}
