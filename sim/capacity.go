package sim

import (
	"fmt"
	"time"

	"github.com/spillway-dev/spillway/policy/spread"
)

// Capacity is how many servers an upstream has from an instant on. Who is being
// served stays with his server, also with one that is taken away.
type Capacity struct {
	At    time.Duration
	Slots int
}

// validate returns what is wrong with an upstream's course of capacity.
func (u *Upstream) validate() error {
	if !(u.Strain >= 0 && u.Strain <= strainMax) {
		return fmt.Errorf("strain %v: it is from 0 to %d", u.Strain, strainMax)
	}
	for i, c := range u.Capacity {
		if c.Slots < 1 || c.At < 0 || i > 0 && c.At < u.Capacity[i-1].At {
			return fmt.Errorf("capacity %d, of %d slots at %v: slots are at least 1, instants never decrease", i, c.Slots, c.At)
		}
	}
	return nil
}

const strainMax = 100

// swell applies the next of the upstream's capacities.
func (res *resource) swell() {
	u := &res.upstream
	u.setSlots(u.Capacity[u.swelled].Slots)
	u.swelled++
	for i := range u.copies {
		res.serveNext(spread.Copy(i))
	}
}

// setSlots shares servers out among the copies.
func (u *upstream) setSlots(n int) {
	u.Slots = n
	for i := range u.copies {
		u.copies[i].slots = u.part(i)
	}
}

// strained is how long work takes that is begun while others stand in the line.
func (u *upstream) strained(service time.Duration) time.Duration {
	if u.Strain == 0 || u.Slots == 0 || u.inLine == 0 {
		return service
	}
	return service + time.Duration(float64(float64(service)*u.Strain*float64(u.inLine))/float64(u.Slots))
}
