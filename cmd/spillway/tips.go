package main

import (
	"fmt"

	"github.com/spillway-dev/spillway/config"
	"github.com/spillway-dev/spillway/config/assemble"
	"github.com/spillway-dev/spillway/policy/plan"
)

// tips warns of upstreams that are metastable or overloaded at the rate that is
// expected of them: what takes plan's arithmetic to see and is too grave to wait
// until somebody asks for it.
func tips(path string, cfg *config.Config) []config.Warning {
	p := plan.Make(assemble.Plan(cfg))
	var all []config.Warning
	for _, u := range cfg.Upstreams {
		what := ""
		switch it := p.Upstreams[u.Name]; it.State {
		case "metastable":
			what = fmt.Sprintf("is metastable at the expected %.4g/s: it works until one bad second, then stays broken (stable below %.4g/s)",
				float64(it.ExpectedPerS), float64(it.StableBelowPerS))
		case "unstable":
			what = fmt.Sprintf("is expected to do %.4g/s and sustains %.4g/s", float64(it.ExpectedPerS), float64(it.SustainablePerS))
		default:
			continue
		}
		all = append(all, cfg.WarningAt("upstreams."+u.Name, what, "ask spillway plan -c "+path+" what would help"))
	}
	return all
}
