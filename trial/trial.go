package trial

import (
	"fmt"
	"time"

	"github.com/spillway-dev/spillway/config"
	"github.com/spillway-dev/spillway/config/assemble"
	"github.com/spillway-dev/spillway/report"
	"github.com/spillway-dev/spillway/sim"
	"github.com/spillway-dev/spillway/workload"
)

// Trial is a configuration and the load that it is to meet.
type Trial struct {
	Config *config.Config
	Loads  []Load
	// Names number the names in the loads' sources. Nil: a table of its own,
	// which is right unless a source was made beforehand.
	Names *workload.Names

	Seed   uint64        // 0: the configuration's
	For    time.Duration // how long load is offered; 0: as long as the sources go on
	WarmUp time.Duration // at the start, not counted

	// Service replaces all other service times. With FromTrace those of the
	// trace hold where it has them, else those that the file gives its upstreams.
	Service    workload.Service
	Conditions workload.Conditions // when the upstreams are slow or out
	// Unprotected tries the same services without spillway in front.
	Unprotected bool
	// Overhead is what network and adapters add to every answer.
	Overhead time.Duration
	// NoticesCancel lets the upstreams stop work whose caller was answered. One
	// whose classes all have abandoned.cancel on does so anyway.
	NoticesCancel bool
	// HitShare is of how many requests that name no key a rung cache has an earlier
	// answer, 0 to 1.
	HitShare float64

	Record func(*sim.Record) // shown every attempt when it is answered
	Report report.Options
	Meta   report.Meta
}

// Load is one stream of requests and the callers who make them.
type Load struct {
	// Class is whose requests these are; empty: the file's first class.
	Class string
	// Spec draws them; its seed, stream and length are set from the trial.
	Spec workload.Spec
	// Source, if set, takes the place of Spec: a trace.
	Source workload.Source
	// Classed says that Source knows itself of which class a request is; those
	// it does not know of are of Class. Without it all are.
	Classed bool
	// Timed says that Source knows how long requests took, which then goes
	// before what the file says of its upstreams.
	Timed   bool
	Callers sim.Callers
}

// Run tries it. The progress function may be nil.
func (t Trial) Run(progress func(done, total time.Duration)) (*sim.Result, error) {
	s, err := t.Scenario()
	if err != nil {
		return nil, err
	}
	return sim.Run(s, progress)
}

// Scenario returns the scenario without running it.
func (t Trial) Scenario() (sim.Scenario, error) {
	cfg := t.Config.WithDefaults()
	if t.Seed == 0 {
		t.Seed = uint64(cfg.Seed)
	}
	if t.Names == nil {
		t.Names = workload.NewNames()
	}
	s := sim.Scenario{
		Seed: t.Seed, For: t.For, WarmUp: t.WarmUp, Names: t.Names,
		Unprotected: t.Unprotected, Overhead: t.Overhead,
		Record: t.Record, Report: t.Report, Meta: t.Meta,
	}
	for _, r := range assemble.Resources(cfg) {
		res, err := t.resource(cfg, r)
		if err != nil {
			return s, err
		}
		s.Resources = append(s.Resources, res)
	}
	for i, l := range t.Loads {
		stream, err := t.stream(cfg, i, l)
		if err != nil {
			return s, err
		}
		s.Streams = append(s.Streams, stream)
	}
	return s, nil
}

func (t Trial) resource(cfg *config.Config, r assemble.Resource) (sim.Resource, error) {
	service, err := t.service(r)
	if err != nil {
		return sim.Resource{}, err
	}
	res := sim.Resource{
		Boundary: r.Machine,
		Upstream: sim.Upstream{
			Slots:         r.Upstream.Slots,
			Copies:        len(r.Upstream.Copies()),
			Weights:       r.Upstream.Weights(),
			Spread:        assemble.Copies(r.Upstream),
			Service:       service,
			Conditions:    t.Conditions,
			NoticesCancel: t.NoticesCancel || breaksOff(r.Classes),
			KeepsDeadline: r.Upstream.StopsAtDeadline.On(),
		},
	}
	res.Boundary.Seed = t.Seed
	res.Boundary.Strict = true
	if t.Unprotected && res.Upstream.Slots == 0 {
		return res, fmt.Errorf("upstream %s: how much it can do is not known, so it cannot be tried unprotected; say `slots: N` in its upstream", r.Upstream.Name)
	}
	for i := range res.Boundary.Classes {
		res.Boundary.Classes[i].Call.Cancel = res.Upstream.NoticesCancel
	}
	for i, c := range r.Classes {
		how := sim.Call{Timeout: c.Call.Timeout.D(), PassDeadline: c.Call.PassDeadline.On()}
		if policy := r.Calls[i]; !policy.Single() {
			how.Policy = &policy
		}
		res.Calls = append(res.Calls, how)
		down, err := t.ladder(cfg, c)
		if err != nil {
			return res, fmt.Errorf("class %s: %w", c.Name, err)
		}
		res.Ladders = append(res.Ladders, down)
	}
	return res, nil
}

// breaksOff reports whether the file has every call of these classes broken off
// when its caller was answered, and its slot free at once. The model knows only
// upstreams that stop all such work or none.
func breaksOff(classes []config.Class) bool {
	for _, c := range classes {
		if !c.Abandoned.Cancel.On() {
			return false
		}
	}
	return true
}

// service returns the law of an upstream's service times: the trial's, the
// file's, or the trace's.
func (t Trial) service(r assemble.Resource) (workload.Service, error) {
	if r.Own == 0 { // rungs alone ask it, each for as long as its own says
		return workload.FromTrace(), nil
	}
	file := r.Upstream.Service
	switch {
	case !t.Service.Traced():
		return t.Service, nil
	case t.timed():
		return workload.FromTrace(), nil
	case !file.IsZero():
		return law(r.Upstream, 0)
	case t.traced():
		return workload.FromTrace(), nil
	}
	return t.Service, fmt.Errorf("upstream %s: how long it serves is not known; say `service: 100ms` in its upstream, or --service", r.Upstream.Name)
}

// law is how long an upstream serves: what a rung says of it, else what it says
// itself.
func law(u config.Upstream, said config.Duration) (workload.Service, error) {
	if said == 0 && len(u.Service.Mix) > 0 {
		parts := make([]workload.Part, 0, len(u.Service.Mix))
		for _, m := range u.Service.Mix {
			one, err := workload.ConstantService(m.Time.D())
			if err != nil {
				return one, fmt.Errorf("upstream %s: %w", u.Name, err)
			}
			parts = append(parts, workload.Part{Share: m.Share, Service: one})
		}
		return workload.MixedService(parts...)
	}
	takes := (&config.Rung{Service: said}).Takes(u)
	return workload.ConstantService(takes.D())
}

// timed reports whether every load is a trace that knows service times.
func (t Trial) timed() bool {
	for _, l := range t.Loads {
		if l.Source == nil || !l.Timed {
			return false
		}
	}
	return len(t.Loads) > 0
}

// traced reports whether every load is a trace, which may know service times.
func (t Trial) traced() bool {
	for _, l := range t.Loads {
		if l.Source == nil && l.Spec.Service.Traced() {
			return false
		}
	}
	return len(t.Loads) > 0
}

func (t Trial) stream(cfg *config.Config, i int, l Load) (sim.Stream, error) {
	if l.Class == "" {
		l.Class = cfg.Classes[0].Name
	}
	if !hasClass(cfg, l.Class) {
		return sim.Stream{}, fmt.Errorf("class %q is not in the configuration; its classes are %s", l.Class, classNames(cfg))
	}
	source, err := l.Open(i, t.Seed, t.For, t.Names)
	if err != nil {
		return sim.Stream{}, err
	}
	return sim.Stream{Source: source, Class: l.Class, Callers: l.Callers}, nil
}

// Open returns the requests of load number i. Opened with the same seed, length
// and number, they are the same requests, live and in virtual time.
func (l Load) Open(i int, seed uint64, length time.Duration, names *workload.Names) (workload.Source, error) {
	if l.Source != nil && l.Classed {
		return l.Source, nil
	}
	if l.Source != nil {
		return workload.WithClass(l.Source, names.Classes.ID(l.Class)), nil
	}
	l.Spec.Seed, l.Spec.Stream, l.Spec.For = seed, fmt.Sprintf("%s/%d", l.Class, i), length
	l.Spec.Classes = workload.Only(l.Class)
	source, err := l.Spec.Source(names)
	if err != nil {
		return nil, fmt.Errorf("load of class %s: %w", l.Class, err)
	}
	return source, nil
}

func hasClass(cfg *config.Config, name string) bool {
	for _, c := range cfg.Classes {
		if c.Name == name {
			return true
		}
	}
	return false
}

func classNames(cfg *config.Config) string {
	names := ""
	for i, c := range cfg.Classes {
		if i > 0 {
			names += ", "
		}
		names += c.Name
	}
	return names
}
