package sim

import (
	"github.com/spillway-dev/spillway/policy/chance"
	"github.com/spillway-dev/spillway/policy/unit"
	"github.com/spillway-dev/spillway/workload/dice"
)

// earlier is what the primary has answered, by the question. How large answers are
// is not modelled: the questions of the latest earlierMost answers are remembered,
// and up to as many before them.
type earlier struct {
	*Earlier
	salt          uint64
	luck          *dice.Dice
	newer, before map[uint64]unit.Instant // when the call began
}

// earlierMost questions take about 40 MB, twice that with those before them.
const earlierMost = 1 << 20

func newEarlier(e *Earlier, seed uint64, class string) *earlier {
	return &earlier{
		Earlier: e, salt: chance.Key(class), luck: dice.New(seed, "sim/earlier/"+class),
		newer: map[uint64]unit.Instant{}, before: map[uint64]unit.Instant{},
	}
}

// question is what an attempt asks, as far as answers are shared.
func (e *earlier) question(a *attempt) uint64 {
	q := chance.Mix(a.key ^ chance.Mix(e.salt+uint64(a.tenant)))
	if e.BySession {
		q = chance.Mix(q ^ a.session)
	}
	return q
}

// keep notes that an attempt was served.
func (e *earlier) keep(a *attempt) {
	if a.key == 0 {
		return
	}
	if len(e.newer) >= earlierMost {
		e.before, e.newer = e.newer, e.before
		clear(e.newer)
	}
	e.newer[e.question(a)] = a.started
}

// has reports whether there is an answer to what the attempt asks.
func (e *earlier) has(now unit.Instant, a *attempt) bool {
	if a.key == 0 {
		roll := e.luck.At(uint64(a.number)<<8|uint64(a.try), uint64(a.stream))
		return roll.Bool(e.Share)
	}
	q := e.question(a)
	began, ok := e.newer[q]
	if !ok {
		began, ok = e.before[q]
	}
	return ok && now.Sub(began) <= e.For
}
