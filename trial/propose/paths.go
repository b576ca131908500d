package propose

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/spillway-dev/spillway/workload"
)

// rest is the class of whatever has none of its own.
const rest = "rest"

// group is the requests that may become a class: all below a first segment, or
// of one path. In a recording it is a class that the gateway had.
type group struct {
	name  string // as it is matched: /image/* or /robots.txt
	n     int64
	timed int64
	total time.Duration // of the timed ones
}

// mean is how long a request of the group takes; 0 is not known.
func (g *group) mean() time.Duration {
	if g.timed == 0 {
		return 0
	}
	return g.total / time.Duration(g.timed)
}

// weight is what the group asks of the service: its time, where that is known.
func (g *group) weight(timed bool) float64 {
	if timed {
		return float64(g.n) * float64(g.mean())
	}
	return float64(g.n)
}

// prefixOf returns what a path's class would match. A path that a file should
// not hold as it is, such as one with escapes, is of the rest.
func prefixOf(path string) string {
	segment, deeper, _ := strings.Cut(strings.TrimPrefix(path, "/"), "/")
	if path == "/" || !strings.HasPrefix(path, "/") || strings.Trim(segment, letters) != "" || len(segment) > 40 {
		return ""
	}
	if deeper != "" || strings.HasSuffix(path, "/") {
		return "/" + segment + "/*"
	}
	return "/" + segment
}

const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_."

// least is the part of all that a class of its own is worth.
const least = 0.05

// choose returns the groups that become classes, the heaviest first.
func choose(groups []*group, timed bool, most int) []*group {
	total := 0.0
	for _, g := range groups {
		total += g.weight(timed)
	}
	var chosen []*group
	for _, g := range groups {
		if g.name != "" && g.name != rest && g.weight(timed) >= least*total {
			chosen = append(chosen, g)
		}
	}
	slices.SortStableFunc(chosen, func(a, b *group) int {
		return cmp.Or(cmp.Compare(b.weight(timed), a.weight(timed)), cmp.Compare(a.name, b.name))
	})
	return chosen[:min(len(chosen), most)]
}

// census counts the groups of a trace in the order in which they first come.
// It is bounded: what is new beyond groupsMost is of the rest.
type census struct {
	groups []*group
	byName map[workload.Name]*group
}

const groupsMost = 4096

func (c *census) count(names *workload.Names, a *workload.Arrival) {
	g := c.byName[a.Class]
	if g == nil {
		if c.byName == nil {
			c.byName = make(map[workload.Name]*group)
		}
		g = &group{name: names.Classes.String(a.Class)}
		if len(c.groups) >= groupsMost {
			g = c.groups[0]
		} else {
			c.groups = append(c.groups, g)
		}
		c.byName[a.Class] = g
	}
	g.n++
	if a.Service > 0 {
		g.timed++
		g.total += a.Service
	}
}

// className makes a class's name of what it matches, one that is not taken.
func className(match string, taken []string) string {
	base := strings.ToLower(strings.Trim(strings.TrimSuffix(match, "*"), "/"))
	base = strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			return r
		}
		return '_'
	}, base)
	if base = strings.Trim(base, "_"); base == "" || base[0] >= '0' && base[0] <= '9' {
		base = "path_" + base
	}
	name := base
	for i := 2; slices.Contains(taken, name); i++ {
		name = base + "_" + string(rune('0'+min(i, 9)))
	}
	return name
}
