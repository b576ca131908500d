package shed

import (
	"math"
	"time"

	"github.com/spillway-dev/spillway/policy/chance"
)

// excess is what is shed beyond the share: by a slice of sessions, which is no finer
// than a session, so that a lone one is shed whole although most of it fits; and by
// decisions that are held since more had to be shed. Few sessions that ask for much
// would leave the slots idle for a span. While more is offered than fits, what is shed
// beyond the share and a little is served request by request, of those who would be
// the last to be shed; only there a session is told now this and now that. Once the
// load is over nothing of this holds: what is shed then keeps its rung, and the slots
// are idle anyway.
type excess struct {
	asked, shed, last int // since the latest look: requests of sessions, shed of these, and of those not below the cut

	n, over, of float64 // of the latest while: how many, shed beyond the share, and who could be spared
	spare       int     // part, of chance.Whole, of these who are served all the same
}

// excessMost is by which part of what is offered too much may be shed. The slice of 80
// sessions that ask for the same is off by that once in three (a standard deviation); in
// lab strip, where some thousand write, two points broke promises without need.
const excessMost = 0.05

// count takes in a decision; last says that the request is not below the cut.
func (e *excess) count(shed, last bool) {
	e.asked++
	if shed {
		e.shed++
		if last {
			e.last++
		}
	}
}

// look works out who is spared, of what was offered in the time dt while that share was
// to be shed; fits says that the load is over.
func (e *excess) look(dt, window time.Duration, share float64, fits bool) {
	keep := max(1-dt.Seconds()/window.Seconds(), 0)
	asked := float64(e.asked)
	e.n = float64(e.n*keep) + asked
	e.over = float64(e.over*keep) + float64(e.shed) - float64(share*asked)
	e.of = float64(e.of*keep) + float64(e.last)
	e.asked, e.shed, e.last, e.spare = 0, 0, 0, 0
	if fits || e.n < blockCount {
		return
	}
	beyond := e.over - float64(excessMost*e.n) - math.Sqrt(e.n)/2 // chance: a standard deviation of a half
	if beyond > 0 {
		e.spare = int(min(beyond/max(e.of, beyond), 1) * chance.Whole)
	}
}
