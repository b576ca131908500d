package pool

import (
	"time"

	"github.com/spillway-dev/spillway/lab"
	"github.com/spillway-dev/spillway/policy/boundary"
	"github.com/spillway-dev/spillway/policy/ladder"
	"github.com/spillway-dev/spillway/sim"
)

// A cheaper mode at the edge: who is not answered in full gets a fixed list at once,
// by load, or everybody does, because an operator has switched the class.

// ByHand is an operator's switch.
type ByHand struct {
	FromS float64 `json:"from_s"`
	ForS  float64 `json:"for_s"`
}

func (b *ByHand) change(class string) sim.Change {
	second := float64(time.Second)
	return sim.Change{At: time.Duration(b.FromS * second), Operate: &sim.Operate{
		Class: class, Mode: boundary.Degrade, For: time.Duration(b.ForS * second),
	}}
}

// ladder is a fixed list where the class has a cheaper answer.
func (c Class) ladder() sim.Ladder {
	if !c.Cheaper {
		return sim.Ladder{}
	}
	order, err := ladder.New(ladder.Rung{Name: ladder.Static})
	if err != nil {
		panic("BUG: lab pool: " + err.Error())
	}
	return sim.Ladder{Order: order, Rungs: []sim.Rung{{}}}
}

func cheaperArms(o Options) []Setting {
	arm := func(name, does string) Setting {
		s := base(o, name, does)
		s.Classes[0].Cheaper = true
		return s
	}
	hand := arm("outward-cheaper-by-hand", "the same; for the middle third of the time an operator has switched the class to the list for everybody")
	hand.ByHand = &ByHand{FromS: o.Seconds / 3, ForS: o.Seconds / 3}
	return []Setting{arm("outward-cheaper-mode", "who finds no place, or would be too late, gets a fixed list at once"), hand}
}

// cheaperPredictions are about a pool under lasting overload of steady work.
func cheaperPredictions(o Options) []lab.Prediction {
	return []lab.Prediction{
		lab.Expect("outward-cheaper-mode", "goodput_per_s", lab.AtLeast, 0.97*o.capacity(), "a list for whoever is too many takes no full answer away"),
		lab.Expect("outward-cheaper-mode", "callers_answered_share", lab.AtLeast, 0.999, "and everybody is answered"),
		lab.Expect("outward-cheaper-by-hand", "callers_answered_share", lab.AtLeast, 0.999, "as by hand"),
		lab.Against("outward-cheaper-by-hand", "goodput_per_s", lab.AtMost, 0.72, "outward-cheaper-mode", "which gives the list to those, too, for whom there was room"),
	}
}
