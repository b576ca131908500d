package shed

import (
	"github.com/spillway-dev/spillway/policy/chance"
	"github.com/spillway-dev/spillway/policy/unit"
)

// State is what there is to see of a law.
type State struct {
	// Share is how much of what is offered is shed, in millionths.
	Share int
	// Gap is the least gap that is served in full whatever the session; beyond
	// Useless if none is.
	Gap Gap
	// DemandPerS is what is offered a second, SustainablePerS what the slots can
	// serve; 0 where that is not known.
	DemandPerS, SustainablePerS float64
}

// State returns what the law found at its latest look.
func (l *Law) State() State {
	return State{l.Share(), gapFrom(l.cut.above()), l.demand.total, l.load.sustainable()}
}

// above is the first level of which nobody is shed.
func (c cut) above() int {
	if c.part > 0 {
		return c.level + 1
	}
	return c.level
}

func gapFrom(level int) Gap {
	if level >= levels {
		return Useless + 1
	}
	return LeastGap(level - 1)
}

// Would returns the least gap with which the request would be served in full if it
// were offered now, beyond Useless if with none; and how many slots would serve all
// that is offered, which is an estimate, 0 where nothing is known. It changes
// nothing.
func (l *Law) Would(now unit.Instant, a *Ask) (least Gap, slots int) {
	level := 1
	for level < levels && l.wouldShed(now, a, level) {
		level++
	}
	if l.load.Holding > 0 {
		slots = int(float64(l.demand.total*l.load.Holding.Seconds())) + 1
	}
	return gapFrom(level), slots
}

func (l *Law) wouldShed(now unit.Instant, a *Ask, level int) bool {
	if a.Session == 0 {
		return level < l.cut.above()
	}
	key := chance.Mix(a.Session ^ l.seed)
	if l.held.sets != nil {
		if h, its := l.held.of(now, key, a.Stretch); its && level < int(h.shed) {
			return true
		} else if its && level >= int(h.full) {
			return l.sheds(&l.must, now, key, level)
		}
	}
	return l.sheds(&l.cut, now, key, level)
}

// Memory is what a law has learned, as a value: for another process to begin with.
// Who is held is not part of it.
type Memory struct {
	Share int       `json:"share_millionths"`
	PerS  []float64 `json:"per_s"` // by level: what is kept, then the buckets of gaps
}

// Export returns what the law has learned. It changes nothing.
func (l *Law) Export() Memory {
	return Memory{l.Share(), append([]float64(nil), l.demand.rate[:]...)}
}

// perSMost keeps sums of imported rates finite.
const perSMost = 1e12

// Import has the law begin where another one was. Any value is taken for what it
// can mean.
func (l *Law) Import(m Memory) {
	if len(m.PerS) != levels {
		return
	}
	l.demand = demand{age: window}
	for i, r := range m.PerS {
		if r > 0 { // and is a number
			l.demand.rate[i] = min(r, perSMost)
			l.demand.total += l.demand.rate[i]
		}
	}
	l.share = float64(min(max(m.Share, 0), chance.Whole)) / chance.Whole
	l.cut = l.demand.cut(l.share)
}
