package load

import (
	"time"

	"github.com/spillway-dev/spillway/report"
)

// Outcome is what became of one request. Instants are since the start of the schedule.
type Outcome struct {
	N    int64         // number in the schedule, from 0
	At   time.Duration // when it was due
	Sent time.Duration // when its first attempt left; below 0: it did not
	End  time.Duration // when it was answered or given up
	// Rung that answered, as Spillway-Rung names it; empty where none did.
	Rung   string
	Reason string // as in the report
	Status int    // of the last answer; 0 where there was none
	// Body is the first Config.Keep bytes of the last answer, valid during the call.
	Body []byte
}

// outcome is the shot's, which has ended as v.
func (r *record) outcome(g *generator, s *shot, v verdict, end time.Duration) *Outcome {
	o := &Outcome{N: s.arrival.N, At: s.arrival.At, Sent: -1, End: end, Reason: r.collector.ReasonName(v.reason), Status: s.status, Body: s.body}
	if !s.sent.IsZero() {
		o.Sent = s.sent.Sub(g.start)
	}
	if v.rung != report.NoRung {
		o.Rung = r.collector.RungName(v.rung)
	}
	return o
}
