package fallback

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/spillway-dev/spillway/policy/unit"
	"github.com/spillway-dev/spillway/report"
	"github.com/spillway-dev/spillway/sim/store"
)

// Followed is one request whose first lookup froze, from start to end, in every
// arm that met the same dice.
type Followed struct {
	Request int64           `json:"request"`
	Rate    float64         `json:"rate"`
	DrawnMs report.Number   `json:"drawn_ms"`
	Arms    map[string]Path `json:"arms"`
}

// Path is what happened to a request in one arm.
type Path []Event

// Event is one thing that happened; AtMs counts from the scheduled instant.
type Event struct {
	AtMs    report.Number `json:"at_ms"`
	Attempt int           `json:"attempt"` // 0: the request itself
	What    string        `json:"what"`    // arrives, begins, sent, slot, used, late, stopped, turned, decided, answered
}

// followedArms at the most are followed, in this order of interest.
var followedKinds = []string{"none", "fb25", "dldown", "r2", "hedge", "r2-limitdown-b10", "all"}

// pathOf puts in order what was recorded of a request.
func pathOf(q *store.Request, lookups []store.Lookup, answer string) Path {
	var p Path
	add := func(at unit.Instant, attempt int, what string) {
		p = append(p, Event{report.Number(inMs(at - q.Scheduled)), attempt, what})
	}
	add(q.Scheduled, 0, "arrives")
	add(q.Begun, 0, "begins")
	for i := range lookups {
		l := &lookups[i]
		if l.N != q.N {
			continue
		}
		add(l.Sent, int(l.Attempt), "sent")
		if l.Begun >= 0 {
			add(l.Begun, int(l.Attempt), "slot")
		}
		add(l.Ended, int(l.Attempt), l.Fate.String())
	}
	add(q.Decided, 0, "decided")
	add(q.Answered, 0, answer)
	slices.SortStableFunc(p, func(a, b Event) int { return cmp.Compare(a.AtMs, b.AtMs) })
	return p
}

// line says a path in words.
func (p Path) line() string {
	text := ""
	for i, e := range p {
		if i > 0 {
			text += ", "
		}
		what := e.What
		if e.Attempt > 0 {
			what = fmt.Sprintf("%s %d", what, e.Attempt)
		}
		text += fmt.Sprintf("%s %s", report.Format(e.AtMs), what)
	}
	return text
}

// follow finds the request to follow: the first of the first round, a second or
// more after its start, whose first lookup froze.
func (d *Document) follow() error {
	for _, prefix := range []string{"H3-", "H4-"} {
		f := &Followed{Request: -1, Arms: map[string]Path{}}
		for _, kind := range followedKinds {
			s := d.setting(prefix + kind)
			if s == nil {
				continue
			}
			kept, err := d.firstRound(s)
			if err != nil {
				return err
			}
			if f.Request < 0 {
				f.choose(s, d.Seed, kept)
			}
			for i := range kept.requests {
				if q := &kept.requests[i]; q.N == f.Request {
					f.Arms[s.Name] = pathOf(q, kept.lookups, s.answerOf(q))
				}
			}
		}
		if f.Request >= 0 {
			d.Frozen = f
			return nil
		}
	}
	return nil
}

func (f *Followed) choose(s *Setting, seed uint64, kept *record) {
	for i := range kept.requests {
		q := &kept.requests[i]
		if q.FirstFrozen && inMs(q.Scheduled) >= 1000 && (f.Request < 0 || q.N < f.Request) {
			f.Request = q.N
		}
	}
	if f.Request < 0 {
		return
	}
	f.Rate = s.Rate
	if sc, err := s.scenario(seed, 0); err == nil {
		wait, _ := sc.Draws.Wait(f.Request, 1)
		f.DrawnMs = report.Ms(int64(wait))
	}
}
