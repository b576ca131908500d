package assemble

import (
	"cmp"
	"time"

	"github.com/spillway-dev/spillway/config"
	"github.com/spillway-dev/spillway/policy/ladder"
)

// Reserve is what a class keeps back of every deadline, so that a cheaper answer is
// there in time; nothing where it has none to give.
func Reserve(c config.Class) time.Duration {
	if len(c.Ladder) == 0 {
		return 0
	}
	return cmp.Or(c.Call.Reserve.D(), ladder.ReserveDefault)
}

// Ladder returns the order of a class's cheaper answers, with their names.
func Ladder(c config.Class) (ladder.Ladder, error) {
	rungs := make([]ladder.Rung, len(c.Ladder))
	for i, r := range c.Ladder {
		rungs[i].Name = r.Name
		switch {
		case r.Name != "":
		case r.Cache.TTL != 0:
			rungs[i].Name = ladder.Cache
		default:
			rungs[i].Name = ladder.Static
		}
	}
	return ladder.New(rungs...)
}
