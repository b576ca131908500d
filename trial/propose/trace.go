package propose

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/spillway-dev/spillway/config"
	"github.com/spillway-dev/spillway/workload"
	"github.com/spillway-dev/spillway/workload/trace"
)

// FromTrace proposes a configuration from an access log or a recording. It reads
// the file twice and keeps nothing of it but counts and a sample.
func FromTrace(path string, o Options) (*Proposal, error) {
	o.Classes = cmp.Or(o.Classes, 5)
	t := traced{path: path, options: o}
	if o.Mapping != "" {
		m, err := trace.ParseMapping(o.Mapping)
		if err != nil {
			return nil, err
		}
		t.mapping = m
	}
	var found census
	r, err := t.read(prefixOf, found.count)
	if err != nil {
		return nil, err
	}
	if len(found.groups) == 0 || r.Stats().Span <= 0 {
		return nil, fmt.Errorf("%s: one moment of traffic is too little to propose anything from", path)
	}
	t.chosen = choose(found.groups, r.Timed(), o.Classes)
	t.classes = make([]measured, len(t.chosen)+1)
	if r, err = t.read(prefixOf, t.measure); err != nil {
		return nil, err
	}
	return t.propose(r), nil
}

// traced is a trace that is being read.
type traced struct {
	path    string
	options Options
	mapping trace.Mapping
	chosen  []*group
	classes []measured // of those chosen, and of the rest
}

// read shows every request to f.
func (t *traced) read(classify func(path string) string, f func(*workload.Names, *workload.Arrival)) (*trace.Reader, error) {
	r, err := trace.Open(t.path, trace.Options{
		Format: t.options.Format, Mapping: t.mapping, Seed: max(t.options.Seed, 1),
		Classify: func(a trace.Asked) string { return cmp.Or(classify(a.Path), rest) },
	})
	if err != nil {
		return nil, err
	}
	defer r.Close()
	var a workload.Arrival
	for r.Next(&a) {
		f(r.Names(), &a)
	}
	return r, r.Err()
}

func (t *traced) measure(names *workload.Names, a *workload.Arrival) {
	name := names.Classes.String(a.Class)
	i := slices.IndexFunc(t.chosen, func(g *group) bool { return g.name == name })
	if i < 0 {
		i = len(t.chosen)
	}
	t.classes[i].take(a)
}

func (t *traced) propose(r *trace.Reader) *Proposal {
	p := newProposal()
	s := r.Stats()
	all := int64(0)
	for i := range t.classes {
		all += t.classes[i].n
	}
	p.head("Proposed by spillway init from %s (%s):", t.path, r.About())
	p.head("%d requests in %v%s.", all, s.Span.Round(time.Second), from(s))
	if text := s.String(); text != "" {
		p.head("Not used: %s.", text)
	}
	p.head("A log shows what the service has done, not what it can do. If it was overloaded then, the slots below are too many; " +
		"if it was idle, too few. Try them: spillway plan -c FILE, then spillway sim -c FILE --trace LOG --speed 2.")
	if !r.Timed() {
		p.head("It does not say how long requests took, so nothing tells how many slots are right: those below are the default. " +
			"Log the time ($request_time in nginx, %%D in Apache), or let spillway serve --record FILE run for an hour, and ask again.")
	}
	up := p.service(t.options.Upstream)
	var names []string
	timed := r.Timed()
	weights := t.weights(timed)
	for i := range t.classes {
		m := &t.classes[i]
		if m.n == 0 && i < len(t.chosen) {
			continue
		}
		c := config.Class{Name: rest, Match: config.Match{Path: config.Words{"/*"}}}
		if i < len(t.chosen) {
			match := t.chosen[i].name
			c.Name = className(match, names)
			c.Match.Path = config.Words{match}
			if r.IsLog() {
				p.say(At("classes", c.Name), "%s: %s of all requests%s.", match, percent(m.n, all), ofTime(weights[i], timed))
			} else {
				p.say(At("classes", c.Name), "%s of all requests%s. What it matches is not in a recording: write it here.", percent(m.n, all), ofTime(weights[i], timed))
				c.Match.Path = config.Words{"/" + match + "/*"}
			}
		} else {
			p.say(At("classes", c.Name), "Whatever matches nothing above: %s of all requests%s.", percent(m.n, all), ofTime(weights[i], timed))
		}
		names = append(names, c.Name)
		p.size(&c, m, timed, r.IsLog())
		up.Slots += c.Slots.Fixed
		p.Config.Classes = append(p.Config.Classes, c)
	}
	p.upstream(up, t.classes, timed)
	return p
}

func from(s trace.Stats) string {
	if s.Start.IsZero() {
		return ""
	}
	return " from " + s.Start.Format("2006-01-02 15:04:05 UTC")
}

// weights is each class's part of the service's time, or of the requests.
func (t *traced) weights(timed bool) []float64 {
	parts, sum := make([]float64, len(t.classes)), 0.0
	for i := range t.classes {
		parts[i] = float64(t.classes[i].n)
		if timed {
			parts[i] = float64(t.classes[i].total)
		}
		sum += parts[i]
	}
	for i := range parts {
		parts[i] /= max(sum, 1)
	}
	return parts
}

func ofTime(part float64, timed bool) string {
	if !timed {
		return ""
	}
	return fmt.Sprintf(", %.0f %% of the service's time", 100*part)
}

func percent(n, all int64) string { return fmt.Sprintf("%.0f %%", 100*float64(n)/float64(max(all, 1))) }

// headroom is what is proposed above the busiest moment that was seen.
const headroom = 1.25

// size gives a class its slots, deadline and expected rate.
func (p *Proposal) size(c *config.Class, m *measured, timed, isLog bool) {
	at := At("classes", c.Name)
	if clients, share := m.loudest(); clients > 1 && share >= 0.1 {
		p.say(at, "Of %d clients the busiest sent %.0f %%. So that none takes all, add what tells them apart: tenant: { key: \"header:X-Tenant\" }.", clients, 100*share)
	}
	if m.n == 0 {
		c.Slots.Fixed = 2
		p.say(At("classes", c.Name, "slots"), "Nothing of it came; for what may.")
		return
	}
	c.Expect.Rate = math.Ceil(10*m.perSecond()) / 10
	p.say(At("classes", c.Name, "expect"), "Its busiest %v; plan checks the class against it.", window)
	if !timed || m.timed == 0 {
		c.Slots.Fixed = 20
		p.say(At("classes", c.Name, "slots"), "Not known; the default.")
		return
	}
	c.Slots.Fixed = max(2, int(math.Ceil(headroom*min(m.inUse(), float64(m.mostAt)))))
	what := "were in use on average"
	if !isLog {
		what = "were asked for on average, what was refused included"
	}
	p.say(At("classes", c.Name, "slots"), "In its busiest %v %s %s (%.3g/s x %s, Little's law); at most %d at once. Proposed is the average and a quarter more, at least 2.",
		window, slots(m.inUse()), what, m.perSecond(), short(m.mean()), m.mostAt)
	p99 := m.quantile(0.99)
	c.Deadline = config.Duration(nice(5 * p99))
	p.say(At("classes", c.Name, "deadline"), "p99 is %s. How long callers wait is not in the log: five times that, rounded up. Write what yours allow.", short(p99))
}

func slots(x float64) string { return fmt.Sprintf("%.3g slots", x) }

// upstream says what the service is known to do.
func (p *Proposal) upstream(up *config.Upstream, classes []measured, timed bool) {
	if !timed {
		up.Slots = 0
		return
	}
	p.say(At("upstreams", "app", "slots"), "The classes' together.")
	var whole measured
	for i := range classes {
		whole.times = append(whole.times, classes[i].times...)
		whole.timed += classes[i].timed
		whole.total += classes[i].total
	}
	if len(whole.times) < 100 {
		up.Service.Fixed = config.Duration(max(short2(whole.mean()), time.Microsecond))
		p.say(At("upstreams", "app", "service"), "The mean of %d requests; for plan and sim.", whole.timed)
		return
	}
	for _, part := range []struct{ from, to float64 }{{0, 0.9}, {0.9, 0.99}, {0.99, 1}} {
		mean := max(short2(whole.meanBetween(part.from, part.to)), time.Microsecond)
		up.Service.Mix = append(up.Service.Mix, config.Share{Share: math.Round(100*(part.to-part.from)) / 100, Time: config.Duration(mean)})
	}
	p.say(At("upstreams", "app", "service"), "The means of the quick nine tenths, of the next nine hundredths and of the slowest hundredth; for plan and sim.")
}

// nice rounds up to a time that a person would write, at least 100 ms.
func nice(d time.Duration) time.Duration {
	for _, n := range []time.Duration{100, 200, 250, 500, 1000, 2000, 3000, 5000, 10_000, 15_000, 20_000, 30_000, 60_000, 120_000, 300_000} {
		if d <= n*time.Millisecond {
			return n * time.Millisecond
		}
	}
	return 300 * time.Second // the default of max_deadline
}

// short2 rounds to two or three digits.
func short2(d time.Duration) time.Duration {
	unit := time.Nanosecond
	for unit < time.Minute && d/unit >= 1000 {
		unit *= 10
	}
	return d.Round(unit)
}

func short(d time.Duration) string { return config.Duration(short2(d)).String() }
