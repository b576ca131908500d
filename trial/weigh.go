package trial

import (
	"fmt"
	"strings"

	"github.com/spillway-dev/spillway/config"
	"github.com/spillway-dev/spillway/config/assemble"
	"github.com/spillway-dev/spillway/workload/trace"
)

// Weigh returns what says how much worse a cheaper answer is for a request of an
// access log that is of a class, in millionths, as the gateway works it out; of what
// is learned, what holds before anything is known. Requests that name no class are of
// the one of that name. It is nil where no class says anything of it. Blind are those
// classes whose gap asks for a header or cookie: a log has none.
func Weigh(cfg *config.Config, class string) (weigh func(class string, a trace.Asked) int32, blind []string, err error) {
	gaps := make(map[string]assemble.Gap)
	for _, c := range cfg.Classes {
		g, err := assemble.GapOf(c.Gap)
		if err != nil {
			return nil, nil, fmt.Errorf("class %s: gap.expr %w", c.Name, err)
		}
		if !g.Says {
			continue
		}
		gaps[c.Name] = g
		if g.AsksHeaders() {
			blind = append(blind, c.Name)
		}
	}
	if len(gaps) == 0 {
		return nil, nil, nil
	}
	return func(of string, a trace.Asked) int32 {
		if of == "" {
			of = class
		}
		g := gaps[of]
		a.Path = resolved(a.Path)
		gap, _ := g.Of(&logged{a, of})
		return int32(gap)
	}, blind, nil
}

// Alike names the classes whose gap depends on the request: of a load that says
// nothing of its requests but when they come, all of theirs are taken alike.
func Alike(cfg *config.Config) (names []string) {
	for _, c := range cfg.Classes {
		if c.Gap.Expr != "" || len(c.Gap.Table.Values)+len(c.Gap.Table.Ranges) > 0 {
			names = append(names, c.Name)
		}
	}
	return names
}

// logged is a request of an access log, of which an expression may ask.
type logged struct {
	trace.Asked
	class string
}

// Method implements expr.Request.
func (l *logged) Method() string { return l.Asked.Method }

// Host implements expr.Request.
func (l *logged) Host() string { return strings.ToLower(config.WithoutPort(l.Asked.Host)) }

// Path implements expr.Request.
func (l *logged) Path() string { return l.Asked.Path }

// Query implements expr.Request.
func (l *logged) Query(name string) (string, bool) { return config.QueryValue(l.Asked.Query, name) }

// Header implements expr.Request. A log has none but Host.
func (l *logged) Header(name string) (string, bool) {
	if !strings.EqualFold(name, "Host") {
		return "", false
	}
	return l.Asked.Host, true
}

// Size implements expr.Request.
func (l *logged) Size() int64 { return l.Asked.Size }

// Class implements expr.Request.
func (l *logged) Class() string { return l.class }

// Tenant implements expr.Request.
func (l *logged) Tenant() string { return l.Asked.Tenant }

// Session implements expr.Request.
func (l *logged) Session() string { return l.Asked.Session }

// Text implements assemble.Asked.
func (l *logged) Text(k config.Key) string {
	switch k.Kind {
	case config.FromQuery:
		value, _ := l.Query(k.Name)
		return value
	case config.FromPath:
		return config.PathSegment(l.Path(), k.Segment)
	}
	return ""
}
