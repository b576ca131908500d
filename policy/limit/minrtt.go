package limit

import (
	"math"
	"time"

	"github.com/spillway-dev/spillway/policy/chance"
	"github.com/spillway-dev/spillway/policy/estimate"
	"github.com/spillway-dev/spillway/policy/unit"
)

// minRTT lowers its limit to a few calls every minute, takes their median latency
// for that of a resource at ease, and follows the ratio of the latest median to it.
type minRTT struct {
	bounds
	at      estimate.Quantiles // the median of the window
	began   unit.Instant
	least   time.Duration // 0: being measured
	back    float64       // limit from before it was measured
	next    unit.Instant  // to measure
	lowest  int           // windows in a row at the lowest limit
	counted int
	luck    chance.Source
}

// Envoy's defaults.
const (
	probeLimit   = 3
	probeCalls   = 50
	probeEvery   = time.Minute
	probeJitter  = 0.15
	rttBuffer    = 0.25
	updateEvery  = 100 * time.Millisecond
	lowestMost   = 5
	gradientMost = 2.0
)

func newMinRTT(c Config) *minRTT {
	m := &minRTT{bounds: newBounds(c), luck: chance.New(c.Seed)}
	m.back = m.level
	m.measure()
	return m
}

func (m *minRTT) measure() {
	m.least, m.counted, m.lowest = 0, 0, 0
	m.level = max(float64(m.Floor), probeLimit)
	m.clear(0)
}

func (m *minRTT) clear(now unit.Instant) { m.at, m.began = estimate.NewQuantiles(50), now }

// Ended takes in one call.
func (m *minRTT) Ended(now unit.Instant, s Sample) {
	if s.says() != answered {
		return
	}
	if m.least > 0 && now >= m.next {
		m.back = m.level
		m.measure()
	}
	m.at.Add(s.Held)
	if m.least == 0 {
		if m.counted++; m.counted >= probeCalls {
			m.least = max(m.at.Upper(0), 1)
			m.next = now.Add(probeEvery + time.Duration(float64(probeEvery)*probeJitter*float64(m.luck.Below(1024))/1024))
			m.set(m.back)
			m.clear(now)
		}
		return
	}
	if now.Sub(m.began) < updateEvery {
		return
	}
	m.follow(now)
}

func (m *minRTT) follow(now unit.Instant) {
	gradient := float64(m.least) * (1 + rttBuffer) / float64(max(m.at.Upper(0), 1))
	gradient = max(0.5, min(gradientMost, gradient))
	next := float64(gradient * m.level)
	m.set(next + math.Sqrt(next))
	m.clear(now)
	if m.lowest++; m.level > max(float64(m.Floor), probeLimit) {
		m.lowest = 0
	}
	if m.lowest >= lowestMost {
		m.back = m.level
		m.measure()
	}
}

// State returns what there is to see.
func (m *minRTT) State() State {
	s := State{Law: MinRTT, Limit: m.Limit(), FloorBinds: m.floor, Baseline: m.least, Doing: "steady"}
	if m.least == 0 {
		s.Doing = "looking lower"
	}
	return s
}
