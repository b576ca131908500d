package sim

import (
	"time"

	"github.com/spillway-dev/spillway/policy/unit"
	"github.com/spillway-dev/spillway/report"
)

// What the machines count of idle slots, see boundary.Machine.IdleWhileRefusing, is
// read where what counts begins and ends: after the warm-up, and at the end of the
// offered load. Either instant is passed between two events, and what a sum is then
// can be told, so that neither is an event.

// idleSums are a machine's sums at both ends.
type idleSums struct{ begin, end time.Duration }

func (s *idleSums) note(sum time.Duration, begins bool) {
	if begins {
		s.begin = sum
	} else {
		s.end = sum
	}
}

func (s *idleSums) counted() time.Duration { return max(s.end-s.begin, 0) }

// idleEnd is where what counts ends; Never where that is not known beforehand.
func (r *run) idleEnd() unit.Instant { return min(r.cutoff, r.end) }

func (r *run) beginIdle() {
	r.idleMark = r.idleEnd()
	if warm := unit.Instant(r.WarmUp); warm > 0 {
		r.idleMark = min(warm, r.idleMark)
	}
}

// passIdle reads the sums at the mark, which the next event is not before.
func (r *run) passIdle() {
	end := r.idleEnd()
	begins := r.idleMark < end
	r.noteIdle(r.idleMark, begins)
	r.idleMark = unit.Never
	if begins {
		r.idleMark = end
	}
}

func (r *run) noteIdle(at unit.Instant, begins bool) {
	for _, c := range r.classes {
		if m := c.resource.machine; m != nil {
			c.idle.note(m.IdleWhileRefusing(c.index, at), begins)
		}
	}
	for _, res := range r.resources {
		if res.machine != nil {
			res.idle.note(res.machine.IdleWhileRefused(at), begins)
		}
	}
}

// bookIdle enters the sums into the results, when all has been played. Without a
// boundary nothing is refused, and nothing is said.
func (r *run) bookIdle(out *report.Report) {
	for r.idleMark < unit.Never {
		r.passIdle()
	}
	if r.idleEnd() == unit.Never {
		r.noteIdle(r.now, false)
	}
	if r.Unprotected {
		return
	}
	var whole time.Duration
	for _, res := range r.resources {
		res.result.IdleWhileRefusing = res.idle.counted()
		whole += res.idle.counted()
	}
	out.IdleWhileRefusingS = report.Number(whole.Seconds())
	for _, c := range r.classes {
		if g := out.Classes[c.name]; g != nil && c.asked == 0 {
			g.IdleWhileRefusingS = report.Number(c.idle.counted().Seconds())
		}
	}
}
