package limits

import (
	"time"

	"github.com/spillway-dev/spillway/policy/reason"
	"github.com/spillway-dev/spillway/sim"
)

// course is an arm second by second.
type course struct {
	setting  *Setting
	inFlight []int64 // nanoseconds of work in flight at the resource
	offered  []int64
	inTime   []int64 // served, by the second of the offer
	refused  []int64 // whatever was not, by that of the offer
	served   []int64 // by the second of the answer
	latency  int64   // nanoseconds, summed over the served
}

func newCourse(s *Setting) *course {
	seconds := func() []int64 { return make([]int64, s.ForS) }
	return &course{setting: s, inFlight: seconds(), offered: seconds(), inTime: seconds(), refused: seconds(), served: seconds()}
}

// take takes in a request that was answered. The resource notices whom nobody waits
// for, so that what is answered is in flight no more.
func (c *course) take(r *sim.Record) {
	second := int(time.Duration(r.Arrived) / time.Second)
	c.offered[second]++
	if r.Reason == reason.Served {
		c.inTime[second]++
		c.latency += int64(r.Answered.Sub(r.Arrived))
		if at := int(time.Duration(r.Answered) / time.Second); at < len(c.served) {
			c.served[at]++
		}
	} else {
		c.refused[second]++
	}
	if !r.HasStarted {
		return
	}
	from, to := int64(r.Started), int64(r.Answered)
	for s := int(from / int64(time.Second)); s < len(c.inFlight) && from < to; s++ {
		until := min(to, int64(s+1)*int64(time.Second))
		c.inFlight[s] += until - from
		from = until
	}
}

// mean is the work in flight in a second, in the mean.
func (c *course) mean(second int) float64 { return float64(c.inFlight[second]) / float64(time.Second) }
