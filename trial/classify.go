package trial

import (
	"net/url"
	"path"
	"slices"
	"strings"

	"github.com/spillway-dev/spillway/config"
	"github.com/spillway-dev/spillway/expr"
	"github.com/spillway-dev/spillway/workload/trace"
)

// Classify returns what says which class of the configuration a request of an
// access log is of, as the gateway matches it; empty is none. Headers a log does not
// have: blind are the classes that ask for one besides Host, and nothing is taken for
// them.
func Classify(cfg *config.Config) (classify func(trace.Asked) string, blind []string) {
	type entry struct {
		name      string
		pattern   config.Pattern
		condition *expr.Program
	}
	var classes []entry
	for _, c := range cfg.Classes {
		e := entry{name: c.Name, pattern: c.Match.Pattern()}
		asks := slices.ContainsFunc(e.pattern.Headers, func(h config.HeaderGlob) bool { return h.Name != "Host" })
		if c.Match.Expr != "" {
			e.condition, _ = expr.Compile(expr.Condition, c.Match.Expr) // it was checked
			asks = asks || e.condition.Asks("headers")
		}
		if asks {
			blind = append(blind, c.Name)
		}
		classes = append(classes, e)
	}
	return func(a trace.Asked) string {
		a.Path = resolved(a.Path)
		header := func(name string) string {
			if name == "Host" {
				return a.Host
			}
			return ""
		}
		for i := range classes {
			c := &classes[i]
			if !c.pattern.Matches(a.Method, a.Host, a.Path, header) {
				continue
			}
			if c.condition != nil {
				if is, err := c.condition.Bool(&logged{Asked: a}); err != nil || !is {
					continue
				}
			}
			return c.name
		}
		return ""
	}, blind
}

// resolved decodes a path as it stands in a log and resolves its dot segments,
// as the gateway does before it matches.
func resolved(raw string) string {
	p, err := url.PathUnescape(raw)
	if err != nil {
		p = raw
	}
	if !strings.Contains(p, "/.") {
		return p
	}
	clean := path.Clean(p)
	if strings.HasSuffix(p, "/") || strings.HasSuffix(p, "/.") || strings.HasSuffix(p, "/..") {
		clean = strings.TrimSuffix(clean, "/") + "/"
	}
	return clean
}
