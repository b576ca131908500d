package config

import (
	"maps"
	"math"
	"net/netip"
	"net/textproto"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/spillway-dev/spillway/expr"
)

// check is every problem of a configuration besides those already known, unsorted.
func (c *Config) check(known Errors) Errors {
	k := &checker{cfg: c, src: c.src, known: known}
	k.all()
	return k.errs
}

// Warnings is what is allowed and probably not meant, in the order of the file. It
// is for a Config that passed [Parse] or [Config.Validate].
func (c *Config) Warnings() []Warning {
	k := &checker{cfg: c, src: c.src}
	k.all()
	k.wise()
	slices.SortStableFunc(k.warn, func(a, b Warning) int {
		if a.Line != b.Line {
			return a.Line - b.Line
		}
		return a.Column - b.Column
	})
	return k.warn
}

// doubtful reports whether something known already makes path not worth a word: it,
// something in it or something around it could not be read.
func (k *checker) doubtful(path string) bool {
	return slices.ContainsFunc(k.known, func(e *Error) bool {
		return e.Path == path || strings.HasPrefix(e.Path, path+".") || strings.HasPrefix(path, e.Path+".")
	})
}

// misspelt reports whether the mapping at path holds a key that is not known: what
// misses there was probably meant by it.
func (k *checker) misspelt(path string) bool {
	return slices.ContainsFunc(k.known, func(e *Error) bool { return e.unknown && parent(e.Path) == path })
}

func parent(path string) string {
	return path[:max(strings.LastIndexByte(path, '.'), 0)]
}

func (k *checker) all() {
	k.ranges(reflect.ValueOf(*k.cfg), "")
	k.listeners()
	k.limits()
	k.cors()
	k.record()
	k.scale()
	k.quotas()
	k.ledger()
	full := k.cfg.WithDefaults()
	k.jobs(full)
	for _, u := range k.cfg.Upstreams {
		k.upstream(u, join("upstreams", u.Name))
	}
	for i, c := range full.Classes {
		k.class(k.cfg.Classes[i], c, join("classes", c.Name))
	}
	k.trust(full.Classes)
	k.clients()
	k.shadowed(full.Classes)
}

func validPort(s string) bool {
	n, err := strconv.Atoi(s)
	return err == nil && n >= 1 && n <= math.MaxUint16
}

// class checks what a class says (c) with its defaults filled in (d).
func (k *checker) class(c, d Class, at string) {
	k.match(c.Match, join(at, "match"))
	names := namesOf(k.cfg.Upstreams)
	switch {
	case d.Upstream == "" && len(names) > 1:
		k.missing(at, "upstream", "name one of "+strings.Join(names, ", "))
	case d.Upstream != "" && !slices.Contains(names, d.Upstream):
		k.report(join(at, "upstream"), k.whichUpstream(d.Upstream, names), "is %s, which is not an upstream", quote(d.Upstream))
	}
	if d.Budget.Latency <= d.Budget.Service {
		k.report(join(at, "budget"), "make latency longer than service, or nothing could ever wait", "has latency %s, service %s", d.Budget.Latency, d.Budget.Service)
	}
	if d.Deadline > d.MaxDeadline {
		k.report(join(at, "deadline"), "lower it or raise max_deadline", "is %s, above max_deadline %s", d.Deadline, d.MaxDeadline)
	}
	k.slots(c.Slots, join(at, "slots"))
	if d.Memory.PerRequest > d.Memory.Limit {
		k.report(join(at, "memory"), "raise limit or lower per_request, or nothing could ever wait", "has per_request %s, above limit %s", d.Memory.PerRequest, d.Memory.Limit)
	}
	if c.MaxAge != 0 && d.Order == OrderFIFO {
		k.report(join(at, "max_age"), "remove it, or use order: adaptive", "means nothing with order: fifo")
	}
	if d.WhenFull.Policy == FullDisplace && c.Importance.Key.IsZero() {
		k.report(join(at, "when_full"), "add importance: { key: ..., levels: [...] }, or use drop_oldest", "is displace, but nothing says who is less important")
	}
	k.whenFull(c.WhenFull, join(at, "when_full"))
	k.streams(d, join(at, "streams"))
	k.ladder(c.Ladder, d, join(at, "ladder"))
	k.gap(c.Gap, d, join(at, "gap"))
	k.call(c.Call, d, join(at, "call"))
	k.distinct(c.Importance.Levels, join(join(at, "importance"), "levels"))
	k.tenant(c.Tenant, d.Tenant, join(at, "tenant"))
	k.classQuotas(c, join(at, "quota"))
}

// slots checks the range of an adaptive number of slots.
func (k *checker) slots(s Slots, at string) {
	switch {
	case s.Max != 0 && s.Min > s.Max:
		k.report(join(at, "min"), "lower it, or raise max", "is %d, above max %d", s.Min, s.Max)
	case s.Max != 0 && s.Start > s.Max:
		k.report(join(at, "start"), "lower it, or raise max", "is %d, above max %d", s.Start, s.Max)
	case s.Start != 0 && s.Start < s.Min:
		k.report(join(at, "start"), "raise it, or lower min", "is %d, below min %d", s.Start, s.Min)
	}
}

func (k *checker) whichUpstream(got string, names []string) string {
	if len(names) == 0 {
		return "add it under upstreams"
	}
	return oneOf(got, names)
}

func namesOf(us []Upstream) []string {
	var out []string
	for _, u := range us {
		out = append(out, u.Name)
	}
	return out
}

func (k *checker) whenFull(w WhenFull, at string) {
	if w.Policy == "" && w == (WhenFull{}) {
		return
	}
	again := WhenFull{Block: w.Block, Drop: w.Drop}
	err := again.finish()
	if w.Block == 0 && w.Drop == 0 {
		err = again.parse("!!str", string(w.Policy))
	}
	if err == nil && again.Policy != w.Policy {
		err = bad("set Policy to match", "policy %s contradicts block or drop", quote(string(w.Policy)))
	}
	if err != nil {
		p := err.(*problem)
		k.report(at, p.fix, "%s", p.what)
	}
}

func (k *checker) tenant(t, d Tenant, at string) {
	weighs := d.Policy == FairWRR || d.Policy == FairDRR
	if len(t.Weights) > 0 && !weighs && !t.Key.IsZero() {
		k.report(join(at, "weights"), "use policy: wrr or drr", "means nothing with policy: %s", d.Policy)
	}
	if len(t.Order) > 0 && d.Policy != FairPriority && !t.Key.IsZero() {
		k.report(join(at, "order"), "use policy: priority, or remove it", "means nothing with policy: %s", d.Policy)
	}
	if d.Policy == FairPriority && len(t.Order) == 0 {
		k.report(join(at, "policy"), "add order: [first, second]", "is priority, but no order is given")
	}
	if !t.Cost.IsZero() && d.Policy != FairDRR {
		k.report(join(at, "cost"), "use policy: drr", "means nothing with policy: %s", d.Policy)
	}
	k.distinct(t.Order, join(at, "order"))
}

// distinct refuses an empty word and one written twice: the second would never count.
func (k *checker) distinct(words Words, at string) {
	seen := map[string]bool{}
	for i, w := range words {
		switch {
		case w == "":
			k.report(join(at, strconv.Itoa(i)), "write a word", "is empty")
		case seen[w]:
			k.report(join(at, strconv.Itoa(i)), "keep one", "is %s a second time", quote(w))
		}
		seen[w] = true
	}
}

func (k *checker) match(m Match, at string) {
	k.expression(expr.Condition, m.Expr, join(at, "expr"))
	for i, p := range m.Path {
		here := k.item(join(at, "path"), i)
		switch {
		case !strings.HasPrefix(p, "/"):
			k.report(here, "begin it with /", "is %s", quote(p))
		case strings.Contains(strings.TrimSuffix(p, "*"), "*"):
			k.report(here, "keep one * at the end", "is %s", quote(p))
		case strings.ContainsAny(p, "?#"):
			k.report(here, "match paths only; a query is not part of one", "is %s", quote(p))
		case slices.ContainsFunc(strings.Split(p, "/"), func(s string) bool { return s == "." || s == ".." }):
			k.report(here, "write it without . and ..", "is %s, which no request has", quote(p))
		}
	}
	for i, s := range m.Method {
		if !isToken(s) || s != strings.ToUpper(s) {
			k.report(k.item(join(at, "method"), i), "write it in capitals, as in GET", "is %s", quote(s))
		}
	}
	for i, h := range m.Host {
		rest := strings.TrimPrefix(h, "*.")
		_, err := netip.ParseAddr(h)
		if err != nil && (rest == "" || strings.ContainsAny(rest, "*/:@ []")) {
			k.report(k.item(join(at, "host"), i), "write a name or address without port, or *.example.com", "is %s", quote(h))
		}
	}
	seen := map[string]bool{}
	for _, name := range sortedNames(m.Headers) {
		here, canon := join(join(at, "headers"), name), textproto.CanonicalMIMEHeaderKey(name)
		value := m.Headers[name]
		switch {
		case !isToken(name):
			k.report(here, "write a header's name", "is not a header")
		case canon == "Host":
			k.report(here, "use host", "is not seen as a header")
		case seen[canon]:
			k.report(here, "keep one", "is written twice in different case")
		case value == "" || strings.Contains(strings.TrimSuffix(value, "*"), "*"):
			k.report(here, "write its value, with at most one * at the end", "is %s", quote(value))
		}
		seen[canon] = true
	}
}

// item is the path of one entry where a list was written, else of the single word.
func (k *checker) item(at string, i int) string {
	if one := join(at, strconv.Itoa(i)); k.written(one) || i > 0 {
		return one
	}
	return at
}

func sortedNames[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// shadowed refuses a class that could never be asked. Cost: paths squared, at most a
// second for the largest file.
func (k *checker) shadowed(classes []Class) {
	patterns := make([]Pattern, len(classes))
	for i, c := range classes {
		patterns[i] = c.Match.Pattern()
		for j, b := range classes[:i] {
			first := join("classes", b.Name)
			if b.Match.Expr != "" || k.doubtful(join(first, "match")) || k.misspelt(first) || !patterns[j].Covers(patterns[i]) {
				continue
			}
			where := ""
			if _, pos := k.src.find(first); pos.line > 0 {
				where = " (line " + strconv.Itoa(pos.line) + ")"
			}
			k.report(join("classes", c.Name), "move "+c.Name+" above "+b.Name+", or narrow the match of "+b.Name,
				"is never reached: %s%s takes every request it matches", b.Name, where)
			break
		}
	}
}
