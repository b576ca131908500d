package sim

import (
	"errors"
	"fmt"

	"github.com/spillway-dev/spillway/policy/spread"
)

// weight is that of a copy.
func (u *Upstream) weight(copy int) int {
	if copy < len(u.Weights) {
		return u.Weights[copy]
	}
	return 1
}

// weights is those of all copies together.
func (u *Upstream) weights() (sum int) {
	for i := range max(u.Copies, 1) {
		sum += u.weight(i)
	}
	return sum
}

// part returns how many of the slots fall to a copy.
func (u *Upstream) part(copy int) int { return spread.Part(u.Slots, u.weight(copy), u.weights()) }

// weighed returns what is wrong with the copies and their weights, or nil.
func (u *Upstream) weighed() error {
	n := max(u.Copies, 1)
	switch {
	case u.Copies < 0 || n > spread.CopiesMax:
		return fmt.Errorf("%d copies; 0 to %d can be told apart", u.Copies, spread.CopiesMax)
	case len(u.Weights) > n:
		return fmt.Errorf("%d weights of %d copies", len(u.Weights), n)
	}
	for i, w := range u.Weights {
		if w < 0 || w > spread.WeightMax {
			return fmt.Errorf("copy %d is of weight %d; weights are 0 to %d", i, w, spread.WeightMax)
		}
	}
	if u.weights() == 0 {
		return errors.New("all copies are of weight 0; one at least needs more")
	}
	return nil
}
