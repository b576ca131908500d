package scale

import (
	"time"

	"github.com/spillway-dev/spillway/policy/unit"
)

// slices is how many pieces the time is cut into in which the highest demand counts: it
// is forgotten up to one piece late, never early.
const slices = 20

// peaks is the highest of what was seen in a time that slides.
type peaks struct {
	high [slices + 1]float64
	turn int64 // which piece of time is the latest
}

// add takes a value in and forgets what is older than a time.
func (p *peaks) add(now unit.Instant, v float64, over time.Duration) {
	turn := turnOf(now, over)
	switch passed := turn - p.turn; {
	case passed < 0 || passed > slices: // also where over has changed
		p.high = [slices + 1]float64{}
	default:
		for i := range passed {
			p.high[index(p.turn+1+i)] = 0
		}
	}
	p.turn = turn
	at := &p.high[index(turn)]
	*at = max(*at, v)
}

// hold keeps what is known as if it were of now.
func (p *peaks) hold(now unit.Instant, over time.Duration) {
	most := p.most()
	*p = peaks{turn: turnOf(now, over)}
	p.high[index(p.turn)] = most
}

func turnOf(now unit.Instant, over time.Duration) int64 {
	return int64(now) / max(int64(over)/slices, 1)
}

func index(turn int64) int { return int(((turn % (slices + 1)) + slices + 1) % (slices + 1)) }

func (p *peaks) most() float64 {
	m := 0.0
	for _, v := range p.high {
		m = max(m, v)
	}
	return m
}
