package gateway

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spillway-dev/spillway/config"
	"github.com/spillway-dev/spillway/observe"
)

// Override is limits of a class that an operator has put in the place of the file's,
// for a time.
type Override struct {
	Class string `json:"class"`
	// Keys are the class's, in the words of the file: "slots", "budget.latency".
	Keys map[string]string `json:"keys"`
	From time.Time         `json:"from"`
	End  time.Time         `json:"end"`
	By   string            `json:"by"`
	Why  string            `json:"why"`
}

// String is one line.
func (o *Override) String() string {
	return fmt.Sprintf("%s: %s until %s, by %s: %s", o.Class, keysOf(o.Keys), o.End.Format(time.DateTime), o.By, o.Why)
}

func keysOf(keys map[string]string) string {
	var all []string
	for _, k := range slices.Sorted(maps.Keys(keys)) {
		all = append(all, k+"="+keys[k])
	}
	return strings.Join(all, " ")
}

// Entry is a line of the audit trail: what was done to an override, when and by whom.
type Entry struct {
	At time.Time `json:"at"`
	// Did is set, replaced, lifted, expired or dropped.
	Did   string            `json:"did"`
	Class string            `json:"class"`
	Keys  map[string]string `json:"keys"`
	By    string            `json:"by"`
	Why   string            `json:"why"`
}

// Bounds of overrides.
const (
	// OverrideMost is the longest that one lasts: what is to last longer belongs
	// into the file.
	OverrideMost  = 24 * time.Hour
	overrideLeast = time.Second
	trailMost     = 256 // entries remembered; the log has all
)

// overrides are those in force, at most one a class, and the trail.
type overrides struct {
	mu    sync.Mutex // for those who look; who changes something holds Gateway.reloading too
	live  map[string]*liveOverride
	trail []Entry // oldest first
	filed *config.Config
}

type liveOverride struct {
	Override
	timer *time.Timer
}

// Override puts other limits in the place of a class's, for a time, and then takes
// them away by itself. They are checked as a file is, applied as a reload is, logged
// with who asked and why, shown in /debug/pools and /overrides, and survive reloads:
// they are put on top of whatever the file says. A class has one at a time; a second
// takes the place of the first.
func (g *Gateway) Override(class string, keys map[string]string, d time.Duration, by, why string) (*Override, error) {
	g.reloading.Lock()
	defer g.reloading.Unlock()
	by, why = observe.Printable(by, operatorMax), observe.Printable(why, whyMax)
	switch {
	case g.wound:
		return nil, errWinding
	case why == "":
		return nil, errors.New("say why; whoever finds it at night will want to know")
	case d < overrideLeast || d > OverrideMost:
		return nil, fmt.Errorf("for %v: give a time from %v to %v; what is to last longer belongs into the file", d, overrideLeast, OverrideMost)
	}
	filed := g.filed()
	if _, err := filed.With(class, keys); err != nil {
		return nil, err
	}
	now := time.Now()
	o := &liveOverride{Override: Override{Class: class, Keys: keys, From: now, End: now.Add(d), By: by, Why: why}}
	before := g.overrides.put(class, o)
	if _, err := g.replace(filed, "override by "+by, true); err != nil {
		g.overrides.put(class, before)
		return nil, err
	}
	did := "set"
	if before != nil {
		before.timer.Stop()
		did = "replaced"
	}
	o.timer = time.AfterFunc(d, func() { g.expire(o) })
	g.audit(did, &o.Override, by, why)
	return &o.Override, nil
}

// Lift ends the override of a class before its time.
func (g *Gateway) Lift(class, by, why string) error {
	g.reloading.Lock()
	defer g.reloading.Unlock()
	o := g.overrides.get(class)
	switch {
	case g.wound:
		return errWinding
	case o == nil:
		return fmt.Errorf("class %q has no override", observe.Printable(class, keyMax))
	}
	return g.end(o, "lifted", observe.Printable(by, operatorMax), observe.Printable(why, whyMax))
}

// expire ends an override whose time is over, if it is still in force.
func (g *Gateway) expire(o *liveOverride) {
	g.reloading.Lock()
	defer g.reloading.Unlock()
	if g.overrides.get(o.Class) == o && !g.wound {
		g.end(o, "expired", o.By, o.Why)
	}
}

// end takes an override away. reloading is held.
func (g *Gateway) end(o *liveOverride, did, by, why string) error {
	g.overrides.put(o.Class, nil)
	if _, err := g.replace(g.filed(), "override "+did, true); err != nil { // the file's own configuration, which was in force before
		g.overrides.put(o.Class, o)
		return err
	}
	o.timer.Stop()
	g.audit(did, &o.Override, by, why)
	return nil
}

// filed is the configuration as the file says, without overrides. reloading is held.
func (g *Gateway) filed() *config.Config {
	if g.overrides.filed == nil {
		return g.config()
	}
	return g.overrides.filed
}

// overlaid returns a configuration with the overrides on top, and those that it has no
// place for any more: a reload is never refused because of one. reloading is held.
func (g *Gateway) overlaid(cfg *config.Config) (over *config.Config, dropped []*liveOverride) {
	over = cfg
	for _, o := range g.overrides.all() {
		if next, err := over.With(o.Class, o.Keys); err == nil {
			over = next
		} else {
			dropped = append(dropped, o)
		}
	}
	return over, dropped
}

// rebase notes what the file says now, and drops what has no place in it. reloading is
// held.
func (g *Gateway) rebase(filed *config.Config, dropped []*liveOverride) {
	g.overrides.filed = filed
	for _, o := range dropped {
		_, err := filed.With(o.Class, o.Keys)
		if err == nil { // it was another that stood in its way
			err = errors.New("it does not go together with another override")
		}
		o.timer.Stop()
		g.overrides.put(o.Class, nil)
		g.audit("dropped", &o.Override, "reload", err.Error())
	}
}

func (g *Gateway) audit(did string, o *Override, by, why string) {
	e := Entry{At: time.Now(), Did: did, Class: o.Class, Keys: o.Keys, By: by, Why: why}
	g.overrides.mu.Lock()
	if len(g.overrides.trail) == trailMost {
		g.overrides.trail = slices.Delete(g.overrides.trail, 0, 1)
	}
	g.overrides.trail = append(g.overrides.trail, e)
	g.overrides.mu.Unlock()
	g.log.Warn("override "+did, "class", o.Class, "keys", keysOf(o.Keys), "until", o.End.Format(time.RFC3339), "by", by, "why", why)
}

// put sets or removes the override of a class and returns the one there was.
func (s *overrides) put(class string, o *liveOverride) (before *liveOverride) {
	s.mu.Lock()
	defer s.mu.Unlock()
	before = s.live[class]
	if o == nil {
		delete(s.live, class)
		return before
	}
	if s.live == nil {
		s.live = make(map[string]*liveOverride)
	}
	s.live[class] = o
	return before
}

func (s *overrides) get(class string) *liveOverride {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.live[class]
}

// all returns those in force, by class.
func (s *overrides) all() []*liveOverride {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := slices.Collect(maps.Values(s.live))
	slices.SortFunc(all, func(a, b *liveOverride) int { return cmp.Compare(a.Class, b.Class) })
	return all
}

// stop keeps those in force from ending by themselves: the gateway ends.
func (s *overrides) stop() {
	for _, o := range s.all() {
		if o.timer != nil {
			o.timer.Stop()
		}
	}
}

// remaining is for how long each class is still overridden, for a scrape.
func (g *Gateway) remaining() (all []observe.Overridden) {
	for _, o := range g.overrides.all() {
		all = append(all, observe.Overridden{Class: o.Class, Left: max(time.Until(o.End), 0)})
	}
	return all
}

// serveOverride answers POST /override?class=NAME&slots=20&for=10m&why=TEXT, and with
// lift=1 ends one before its time.
func (g *Gateway) serveOverride(w http.ResponseWriter, r *http.Request, by string) {
	q := r.URL.Query()
	class, why := q.Get("class"), q.Get("why")
	if lift := q.Get("lift"); lift != "" && lift != "0" {
		if err := g.Lift(class, by, why); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		reply(w, r, http.StatusOK, Lifted{Class: class, Did: "lifted"}, func(w io.Writer) { fmt.Fprintf(w, "%s: as the file says\n", class) })
		return
	}
	d, err := time.ParseDuration(q.Get("for"))
	if err != nil {
		http.Error(w, "for: write a duration such as 10m", http.StatusBadRequest)
		return
	}
	keys, err := overriding(q)
	if err == nil {
		var done *Override
		if done, err = g.Override(class, keys, d, by, why); err == nil {
			reply(w, r, http.StatusOK, done, func(w io.Writer) { fmt.Fprintln(w, done) })
			return
		}
	}
	http.Error(w, err.Error(), http.StatusBadRequest)
}

// overriding is what of a query are keys of a class.
func overriding(q url.Values) (map[string]string, error) {
	keys := make(map[string]string)
	for name, values := range q { // order does not matter: a map becomes a map
		switch name {
		case "class", "for", "why", "lift":
			continue
		}
		if len(values) != 1 {
			return nil, fmt.Errorf("%s is written %d times; keep one", observe.Printable(name, keyMax), len(values))
		}
		keys[name] = values[0]
	}
	return keys, nil
}

// Lifted is the answer to who ended an override before its time.
type Lifted struct {
	Class string `json:"class"`
	Did   string `json:"did"`
}

// OverrideList is what GET /overrides answers.
type OverrideList struct {
	Overrides []Override `json:"overrides"` // in force, by class
	Trail     []Entry    `json:"trail"`     // what was done, oldest first
}

// serveOverrides answers GET /overrides: what is in force, and the trail.
func (g *Gateway) serveOverrides(w http.ResponseWriter, r *http.Request) {
	all := OverrideList{Overrides: []Override{}}
	for _, o := range g.overrides.all() {
		all.Overrides = append(all.Overrides, o.Override)
	}
	g.overrides.mu.Lock()
	all.Trail = append([]Entry{}, g.overrides.trail...)
	g.overrides.mu.Unlock()
	reply(w, r, http.StatusOK, &all, func(w io.Writer) { all.WriteText(w) })
}

// WriteText renders the list for people, a line each.
func (l *OverrideList) WriteText(w io.Writer) error {
	var b strings.Builder
	if len(l.Overrides) == 0 {
		b.WriteString("no override is in force\n")
	}
	for i := range l.Overrides {
		b.WriteString(l.Overrides[i].String() + "\n")
	}
	for _, e := range l.Trail {
		fmt.Fprintf(&b, "%s  %-8s  %s: %s  by %s: %s\n", e.At.Format(time.DateTime), e.Did, e.Class, keysOf(e.Keys), e.By, cmp.Or(e.Why, "not said"))
	}
	_, err := io.WriteString(w, b.String())
	return err
}
