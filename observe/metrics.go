package observe

import (
	"net/http"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/spillway-dev/spillway/observe/pressure"
	"github.com/spillway-dev/spillway/policy/boundary"
	"github.com/spillway-dev/spillway/policy/tally"
)

// Source is what is read of a resource at a scrape; a gate is one.
type Source interface {
	States() []boundary.ClassState
	Tenants(class int) ([]boundary.TenantState, tally.Tally)
	Bugs() int64
}

// Options of Metrics. The zero value serves.
type Options struct {
	// Version is shown by spillway_build_info.
	Version string
	// Registry takes the metrics; nil makes one that also holds the process's
	// and Go's own.
	Registry *prometheus.Registry
}

// Metrics collects what sources, histograms and counters know.
type Metrics struct {
	// MalformedDeadlines, Unroutable and Resends count what no gate sees.
	MalformedDeadlines, Unroutable, Resends atomic.Int64
	// Copies returns the copies of all upstreams; nil: there are none. It is set
	// before anybody scrapes.
	Copies func() []Copy
	// Calls returns how classes call their upstreams; nil: none has a policy for it.
	Calls func() []Call
	// Gaps returns what classes have learned of their gap; nil: none learns.
	Gaps func() []Gap
	// Quality returns what is said of the answers of classes with a ladder; nil: nothing.
	Quality func() []Quality
	// Overrides returns the classes whose limits are overridden; nil: none are.
	Overrides func() []Overridden
	// Jobs returns what is known of jobs, by class; nil: there are none.
	Jobs func() []Jobs
	// Quotas returns what is known of quotas, by class, and of what the ledger was told
	// of them; nil: there are none.
	Quotas func() ([]Quota, Reservations)
	// Scales returns what autoscalers are told of each resource; nil: nothing.
	Scales func() []Scale
	// Pressure returns how short the process is of what; nil: nobody looks.
	Pressure func() []pressure.Signal
	// Draining is shown as spillway_draining.
	Draining atomic.Bool
	// Recorded says how many requests are in the recording, and how many are
	// missing there; nil where nothing is recorded. Set it before the first scrape.
	Recorded func() (written, lost int64)
	// Unready is shown as spillway_ready.
	Unready atomic.Bool
	// Edge, set before the first scrape or never, is asked at each one.
	Edge func() Edge
	// Reloads is shown as spillway_config_*.
	Reloads Reloads
	// Callers is what is known of those who ask.
	Callers Callers

	version  string
	registry *prometheus.Registry

	mu        sync.Mutex
	resources []*resource
	classes   map[classKey]*Class
}

// resource is a source and what is kept of it between scrapes.
type resource struct {
	name    string
	source  Source
	tenants []tenantCounts // by class
}

type classKey struct{ resource, class string }

// Class is what a driver reports of a class's requests, beside what its gate
// knows.
type Class struct {
	// Wait is the time from offer to slot, First that from offer to the first
	// byte of the upstream's answer.
	Wait, First Histogram
	// Passed counts the failures that the upstream itself answered and that
	// were passed on: reason failed, rung primary.
	Passed atomic.Int64
	// Rungs counts what the cheaper rungs answered.
	Rungs Rungs
	// Expressions counts what failed in the class's expressions.
	Expressions Expressions
}

// New returns metrics without any source, registered.
func New(o Options) *Metrics {
	m := &Metrics{version: o.Version, registry: o.Registry, classes: make(map[classKey]*Class)}
	if m.registry == nil {
		m.registry = prometheus.NewRegistry()
		m.registry.MustRegister(collectors.NewGoCollector(),
			collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	}
	m.registry.MustRegister(m)
	return m
}

// Watch has a resource shown from now on.
func (m *Metrics) Watch(name string, s Source) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.resources = append(m.resources, &resource{name: name, source: s})
}

// Class returns the figures of a class, the same ones at every call.
func (m *Metrics) Class(resource, class string) *Class {
	m.mu.Lock()
	defer m.mu.Unlock()
	key := classKey{resource, class}
	c := m.classes[key]
	if c == nil {
		c = new(Class)
		m.classes[key] = c
	}
	return c
}

// scrapesMost is how many scrapes are answered at the same time.
const scrapesMost = 4

// Handler answers scrapes.
func (m *Metrics) Handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{
		MaxRequestsInFlight: scrapesMost,
		Timeout:             10 * time.Second,
	})
}

// Describe implements prometheus.Collector.
func (m *Metrics) Describe(out chan<- *prometheus.Desc) {
	for _, d := range descs {
		out <- d
	}
}

// Collect implements prometheus.Collector.
func (m *Metrics) Collect(out chan<- prometheus.Metric) {
	m.mu.Lock()
	defer m.mu.Unlock()
	s := sink{out}
	s.add(&malformed, float64(m.MalformedDeadlines.Load()))
	s.add(&unroutable, float64(m.Unroutable.Load()))
	s.add(&resends, float64(m.Resends.Load()))
	s.recording(m.Recorded)
	s.add(&draining, truth(m.Draining.Load()))
	s.add(&buildInfo, 1, m.version, runtime.Version())
	s.add(&ready, truth(!m.Unready.Load()))
	s.reloads(&m.Reloads)
	if m.Edge != nil {
		s.edge(m.Edge())
	}
	s.callers(&m.Callers)
	if m.Copies != nil {
		s.copies(m.Copies())
	}
	if m.Calls != nil {
		s.calls(m.Calls())
	}
	if m.Jobs != nil {
		s.jobs(m.Jobs())
	}
	if m.Quotas != nil {
		s.quotas(m.Quotas())
	}
	if m.Pressure != nil {
		s.pressure(m.Pressure())
	}
	if m.Gaps != nil {
		s.gaps(m.Gaps())
	}
	if m.Quality != nil {
		s.quality(m.Quality())
	}
	if m.Scales != nil {
		s.scales(m.Scales())
	}
	if m.Overrides != nil {
		s.overrides(m.Overrides())
	}
	for _, r := range m.resources {
		s.add(&bugs, float64(r.source.Bugs()), r.name)
		s.clients(r)
		states := r.source.States()
		for len(r.tenants) < len(states) {
			r.tenants = append(r.tenants, tenantCounts{})
		}
		s.limit(r.name, states)
		for i := range states {
			s.class(r.name, &states[i], m.classes[classKey{r.name, states[i].Name}])
			known, _ := r.source.Tenants(i)
			for _, t := range r.tenants[i].take(known, &states[i].Tally) {
				s.add(&tenantOffered, float64(max(t.Offered, 0)), r.name, states[i].Name, t.Label)
				s.add(&tenantServed, float64(max(t.Served, 0)), r.name, states[i].Name, t.Label)
			}
		}
	}
}

func truth(b bool) float64 {
	if b {
		return 1
	}
	return 0
}
