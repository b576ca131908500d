package trial

import (
	"slices"
	"strings"

	"github.com/spillway-dev/spillway/config"
	"github.com/spillway-dev/spillway/config/assemble"
	"github.com/spillway-dev/spillway/sim"
)

// ladder returns a class's cheaper answers.
func (t Trial) ladder(cfg *config.Config, c config.Class) (l sim.Ladder, err error) {
	if l.Order, err = assemble.Ladder(cfg, c); err != nil {
		return l, err
	}
	for _, r := range c.Ladder {
		var next sim.Rung
		if r.Cache.TTL != 0 {
			next.Earlier = &sim.Earlier{
				For:       r.Cache.TTL.D() + r.Cache.StaleFor.D(),
				BySession: splitsBySession(c.Session.Key, r.Cache.Ignore),
				Share:     t.HitShare,
			}
		}
		if r.Upstream != "" {
			next.Class = config.AskedName(c.Name, r.Upstream)
			for _, u := range cfg.Upstreams {
				if u.Name == r.Upstream {
					if next.Service, err = law(u, r.Service); err != nil {
						return l, err
					}
				}
			}
		}
		l.Rungs = append(l.Rungs, next)
	}
	return l, nil
}

// splitsBySession reports whether what names the session is part of what an earlier
// answer is kept under: all of the URL is, and every header that is not ignored.
func splitsBySession(k config.Key, ignored []string) bool {
	switch k.Kind {
	case "", config.FromClient:
		return false
	case config.FromHeader:
		return !slices.ContainsFunc(ignored, func(name string) bool { return strings.EqualFold(name, k.Name) })
	}
	return true
}
