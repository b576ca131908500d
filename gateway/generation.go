package gateway

import (
	"fmt"
	"net/http"
	"reflect"
	"slices"

	"github.com/spillway-dev/spillway/config"
	"github.com/spillway-dev/spillway/config/assemble"
	"github.com/spillway-dev/spillway/gate"
	"github.com/spillway-dev/spillway/policy/call"
)

// generation is a configuration made ready for requests. It is never changed;
// a reload makes another, and what of it did not change is the same object in
// both. A request keeps the one that it was classified by, through its class.
//
// Whatever a capability makes of the configuration as a whole is a field here,
// made in newGeneration from the configuration and, where it has state that must
// survive, from the generation before; what it makes of a class or an upstream is
// made in newClass or newUpstream.
type generation struct {
	number    int64 // counts from 1
	cfg       *config.Config
	digest    string      // of cfg
	resources []*resource // in the order in which they first came, unused ones included
	classes   []*class    // in the file's order: the first that matches takes the request
	trust     *trusting   // nil: nobody is asked who it is
}

// resource is a gate and the upstream it protects. Gates are kept by the
// upstream's name for as long as the process lives: what waits and runs, every
// count and everything measured is theirs.
type resource struct {
	name     string
	gate     *gate.Gate
	upstream *upstream
	service  config.Upstream // what the generation says of it; of no name where it says nothing
	machine  gate.Config
}

// plan is a generation that is not in force yet, and what there is to be done to
// put it there. Making one changes nothing.
type plan struct {
	*generation
	fresh   []*resource // whose gates are new
	retired []*upstream // that nothing in the new generation uses
	opened  []*keptFile // for its classes
}

// newGeneration makes the generation for a configuration that passed validation
// and has its defaults filled in. before is nil for the first. Nothing of it is
// used yet; discard takes back what was made.
func (g *Gateway) newGeneration(cfg *config.Config, before *generation) (p *plan, err error) {
	p = &plan{generation: &generation{cfg: cfg, digest: cfg.Digest()}}
	if before == nil {
		before = new(generation)
	}
	p.number = before.number + 1
	if before.cfg != nil && cfg.Kept() && g.jobs == nil {
		return nil, errKeepsNothing
	}
	if p.trust, err = newTrusting(cfg, before.trust); err != nil {
		return nil, err
	}
	made := p // a return with an error forgets p
	defer func() {
		if err != nil {
			made.discard()
		}
	}()
	classes := make(map[string]config.Class)
	policies := make(map[string]call.Policy) // of their calls
	for _, r := range assemble.Resources(cfg) {
		if err := p.resource(r, before, g); err != nil {
			return nil, err
		}
		for i, c := range r.Classes {
			classes[c.Name], policies[c.Name] = c, r.Calls[i]
		}
	}
	for _, old := range before.resources {
		if p.find(old.name) == nil { // nobody uses it any more: it drains
			p.resources = append(p.resources, &resource{name: old.name, gate: old.gate, upstream: old.upstream,
				machine: gate.Config{Name: old.name, Unused: true}})
		}
	}
	// In the order in which they first came, whatever the file's is by now.
	slices.SortStableFunc(p.resources, func(a, b *resource) int { return before.rank(a.name) - before.rank(b.name) })
	for _, c := range cfg.Classes {
		r := p.find(c.Upstream)
		if r == nil {
			return nil, fmt.Errorf("class %s: there is no upstream %q", c.Name, c.Upstream)
		}
		asks, err := p.asks(c, classes, policies, before)
		if err != nil {
			return nil, err
		}
		k, err := g.class(cfg, classes[c.Name], policies[c.Name], r, before, asks)
		if err != nil {
			return nil, err
		}
		p.classes = append(p.classes, k)
	}
	if err := p.openKept(before, cfg, g.log.Logger); err != nil {
		return nil, err
	}
	p.retire(before)
	return p, nil
}

// resource adds the resource of a new configuration: with its old gate, if there
// was one, and with its old upstream, if that is as it was.
func (p *plan) resource(r assemble.Resource, before *generation, g *Gateway) (err error) {
	n := &resource{name: r.Upstream.Name, service: r.Upstream, machine: r.Machine}
	if old := before.find(n.name); old != nil {
		n.gate = old.gate
		if sameService(old.upstream.cfg, r.Upstream) {
			n.upstream = old.upstream
		}
		if err := n.gate.Accepts(n.machine); err != nil {
			return err
		}
	} else {
		if n.gate, err = gate.New(n.machine, gate.WithReserver(g.reserver)); err != nil {
			return err
		}
		p.fresh = append(p.fresh, n)
	}
	if n.upstream == nil {
		if n.upstream, err = newUpstream(r.Upstream, g.log.Logger); err != nil {
			return err
		}
		if old := before.find(n.name); old != nil {
			n.upstream.provided.inherit(old.upstream.provided)
		}
	}
	p.resources = append(p.resources, n)
	return nil
}

// sameService reports whether two configurations of an upstream speak of the same
// service, reached in the same way. What only plan and sim go by is left out, and
// what its copies weigh, which is applied to those there are.
func sameService(a, b config.Upstream) bool {
	a.URLs, b.URLs = unweighted(a.URLs), unweighted(b.URLs)
	a.Slots, b.Slots = 0, 0
	a.Service, b.Service = config.Service{}, config.Service{}
	return reflect.DeepEqual(a, b)
}

func unweighted(all []config.Copy) []config.Copy {
	all = slices.Clone(all)
	for i := range all {
		all[i].Weight = 0
	}
	return all
}

// class returns the class for its configuration: the one there was, if all that
// it is made of is as it was.
func (g *Gateway) class(cfg *config.Config, c config.Class, how call.Policy, r *resource, before *generation, asks []*class) (k *class, err error) {
	old := before.class(c.Name)
	if old != nil && old.upstream == r.upstream && old.gate == r.gate && reflect.DeepEqual(old.cfg, c) && slices.Equal(old.asks(), asks) {
		return old, nil
	}
	k = newClass(c, r.upstream, r.gate, old)
	k.rules = r.rules(c.Name)
	k.honoursKeys = r.service.HonoursKeys.On()
	if err := k.express(); err != nil {
		return nil, err
	}
	if k.learning, err = newLearning(cfg, c, old); err != nil {
		return nil, err
	}
	if k.ladder, err = newLadder(cfg, &c, old, asks); err != nil {
		return nil, err
	}
	if err := k.govern(how, r.service.HonoursKeys.On(), old); err != nil {
		return nil, fmt.Errorf("class %s: %w", c.Name, err)
	}
	return k, nil
}

// retire finds the upstreams that were in use and are no more.
func (p *plan) retire(before *generation) {
	for _, old := range before.resources {
		if old.upstream != p.find(old.name).upstream {
			p.retired = append(p.retired, old.upstream)
		}
	}
}

// discard takes back what was made for a generation that does not come.
func (p *plan) discard() {
	for _, r := range p.fresh {
		r.gate.Close()
	}
	p.forgetKept()
}

// adopt puts a planned generation into force. What runs keeps what it has. It
// is called by one goroutine at a time.
func (g *Gateway) adopt(p *plan) error {
	before := g.current.Load()
	// First every class is there that the new generation knows, with those it
	// does not know any more still open.
	for _, r := range p.resources {
		if old := before.find(r.name); old != nil && !reflect.DeepEqual(old.machine, r.machine) {
			if err := r.gate.Reconfigure(r.both(old)); err != nil {
				return err
			}
		}
	}
	for _, c := range p.all() {
		if c.seen == nil { // it is new, and nobody else can see it yet
			c.index = c.gate.Class(c.name)
			c.seen = g.seen.Class(c.upstream.name, c.name)
			if old := before.class(c.name); old != nil && old.gate != c.gate {
				keepOperation(old, c)
			}
			if !c.asked {
				c.recorded = g.recorder.Class(c.name)
			}
			c.ladder.begin(c, g.judged(c))
			c.learning.begin()
			if err := c.calls.begin(); err != nil {
				return err
			}
		}
	}
	for _, r := range p.fresh {
		g.seen.Watch(r.name, r.gate)
	}
	for _, r := range p.resources {
		if r.service.Name != "" {
			r.upstream.start(r.service)
		}
	}
	g.current.Store(p.generation)
	if g.jobs != nil && before != nil {
		g.jobs.Classes(p.jobClasses())
	}
	p.stopKeeping(before)
	g.trusts(p.trust, before.believed())
	g.limit(p.cfg)
	g.board.Reconfigure(assemble.Scale(p.cfg.Scale))
	g.loads.Store(p.cfg.Scale.ORCA.On())
	g.remember(p.generation)
	// From here on nothing new is offered to the classes that are gone but by
	// requests that were on their way; those are offered again, see moved.
	for _, r := range p.resources {
		if old := before.find(r.name); old != nil && len(r.both(old).Classes) > len(r.machine.Classes) {
			if err := r.gate.Reconfigure(r.machine); err != nil {
				return err
			}
		}
	}
	g.retire(p.retired)
	return nil
}

// both is the new configuration of a resource's gate, with the classes beside it
// that are about to be removed, as they were.
func (r *resource) both(old *resource) gate.Config {
	cfg := r.machine
	cfg.Classes = slices.Clone(cfg.Classes)
	for _, c := range old.machine.Classes {
		if !slices.ContainsFunc(cfg.Classes, func(n gate.Class) bool { return n.Name == c.Name }) {
			cfg.Classes = append(cfg.Classes, c)
		}
	}
	return cfg
}

// believed returns what the generation believes; before the first that is nothing.
func (n *generation) believed() *trusting {
	if n == nil {
		return nil
	}
	return n.trust
}

// config returns the configuration in force, with its defaults.
func (g *Gateway) config() *config.Config { return g.current.Load().cfg }

// find returns the resource of an upstream, or nil.
func (n *generation) find(upstream string) *resource {
	if i := n.rank(upstream); n != nil && i < len(n.resources) {
		return n.resources[i]
	}
	return nil
}

// class returns the class of that name, or nil.
func (n *generation) class(name string) *class {
	if n != nil {
		for _, c := range n.classes {
			if c.name == name {
				return c
			}
		}
	}
	return nil
}

// rank is the place of a resource, or one after all of them.
func (n *generation) rank(upstream string) int {
	if n == nil {
		return 0
	}
	for i, r := range n.resources {
		if r.name == upstream {
			return i
		}
	}
	return len(n.resources)
}

// moved offers a request again whose class was removed between the moment in
// which it was classified and that in which it was offered: a reload loses
// nobody. It reports whether the request has been answered.
func (g *Gateway) moved(w http.ResponseWriter, r *http.Request, c *class, who *caller) bool {
	if g.draining.Load() {
		return false
	}
	switch now := g.classify(r, who); now {
	case c:
		return false
	case nil:
		g.unroutable(w, r, http.StatusNotFound)
	default:
		g.admit(w, r, now, who)
	}
	return true
}

// retire closes the connections of upstreams that nothing new uses. Calls that
// run keep theirs, which are closed when they end; those that a late request
// makes are closed when they have been idle for idleTimeout.
func (g *Gateway) retire(upstreams []*upstream) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.retired = append(g.retired, upstreams...)
	if over := len(g.retired) - retiredMost; over > 0 {
		g.retired = slices.Delete(g.retired, 0, over)
	}
	for _, u := range g.retired {
		u.close()
	}
}

// retiredMost bounds how many retired upstreams are remembered so that Close
// need not leave their idle connections to their timeout.
const retiredMost = 64
