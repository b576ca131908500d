package fallback

import (
	"slices"
	"time"

	"github.com/spillway-dev/spillway/policy/reason"
	"github.com/spillway-dev/spillway/report"
)

// Second is what happened in one second of a round.
type Second struct {
	S        int           `json:"s"`         // it begins
	Offered  int           `json:"offered"`   // requests scheduled in it
	StandIns int           `json:"stand_ins"` // of those, errors included
	Calls    int           `json:"calls"`     // lookups sent
	Busy     report.Number `json:"busy"`      // slots of the store held, mean
	Waiting  int           `json:"waiting"`   // in the store's line, at its end
}

// timelineOf is a round second by second, as long as requests are offered.
func timelineOf(s *Setting, kept *record) []Second {
	seconds := make([]Second, int(s.Seconds))
	in := func(ns int64) *Second {
		if i := int(ns / int64(time.Second)); i < len(seconds) {
			return &seconds[i]
		}
		return new(Second)
	}
	for i := range seconds {
		seconds[i].S = i
	}
	for i := range kept.requests {
		q := &kept.requests[i]
		second := in(int64(q.Scheduled))
		second.Offered++
		if q.Reason != reason.Served {
			second.StandIns++
		}
	}
	held, change := make([]int64, len(seconds)), make([]int, len(seconds)+1)
	for i := range kept.lookups {
		l := &kept.lookups[i]
		in(int64(l.Sent)).Calls++
		out := l.Ended // of the line
		if l.Begun >= 0 {
			out = l.Begun
			for at := int64(l.Begun); at < int64(l.Ended); {
				second := at / int64(time.Second)
				end := min((second+1)*int64(time.Second), int64(l.Ended))
				if int(second) < len(held) {
					held[second] += end - at
				}
				at = end
			}
		}
		// It waits at the end of every second from the one in which it was sent to
		// the one before it went.
		first, last := int(int64(l.Sent)/int64(time.Second)), int(int64(out)/int64(time.Second))
		if last > first {
			change[min(first, len(seconds))]++
			change[min(last, len(seconds))]--
		}
	}
	waiting := 0
	for i := range seconds {
		waiting += change[i]
		seconds[i].Waiting = waiting
		seconds[i].Busy = report.Number(float64(held[i]) / float64(time.Second))
	}
	return seconds
}

// The two arms that are laid over each other.
const (
	floods = "H4-r2"
	beside = "H4-fb25"
)

// playTimeline plays the first round in which the arm tips again, and the other
// arm's beside it.
func (d *Document) playTimeline() error {
	r := d.Arms[floods]
	if r == nil {
		return nil
	}
	s := d.setting(floods)
	round := slices.IndexFunc(r.Rounds, func(r Round) bool { return r.Tipped })
	for i := len(r.Rounds); round < 0 && i < TippingRounds; i++ {
		one, _, err := s.playRound(d.Seed, i, figuresOnly)
		if err != nil {
			return err
		}
		if one.Tipped {
			round = i
		}
	}
	d.TimelineTipped = round >= 0
	round = max(round, 0)
	d.TimelineRound = round + 1
	for _, name := range []string{floods, beside} {
		s := d.setting(name)
		if s == nil {
			continue
		}
		_, kept, err := s.playRound(d.Seed, round, everything)
		if err != nil {
			return err
		}
		if err := d.record("timeline-"+name, s, round, &kept); err != nil {
			return err
		}
		d.Timeline[name] = timelineOf(s, &kept)
	}
	return nil
}
