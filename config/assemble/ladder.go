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

// Ladder returns the order of a class's cheaper answers, with their names and the
// time that each needs.
func Ladder(cfg *config.Config, c config.Class) (ladder.Ladder, error) {
	rungs := make([]ladder.Rung, len(c.Ladder))
	for i, r := range c.Ladder {
		switch {
		case r.Cache.TTL != 0:
			rungs[i].Name = ladder.Cache
		case r.Upstream != "":
			rungs[i] = ladder.Rung{Name: r.Upstream, Needs: r.Takes(upstream(cfg, r.Upstream)).D()}
		default:
			rungs[i].Name = ladder.Static
		}
		rungs[i].Name = cmp.Or(r.Name, rungs[i].Name)
	}
	return ladder.New(rungs...)
}

func upstream(cfg *config.Config, name string) config.Upstream {
	for _, u := range cfg.Upstreams {
		if u.Name == name {
			return u
		}
	}
	return config.Upstream{}
}
