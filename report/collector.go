package report

import (
	"fmt"
	"time"

	"github.com/spillway-dev/spillway/policy/reason"
)

// Other is the class or tenant that those beyond the bounds are counted under.
const Other = "other"

const (
	maxRungs   = 8  // rungs of a ladder told apart; the river groups after the fourth
	maxReasons = 40 // the closed set has 28; the rest is room for a driver's own

	defaultTenants         = 10_000
	defaultTenantQuantiles = 64
	maxClasses             = 1_000
)

// Options of a [Collector]; the zero value is usable.
type Options struct {
	// For is the length of the offered load, where it is known beforehand: the
	// width of a bucket of time is chosen for it and slot time outside of it is
	// left out of utilisation.
	For time.Duration
	// Bucket is the width of a bucket of time; 0 chooses a round one that cuts
	// For into at most 200, 10 ms where For is unknown. A run longer than 400
	// buckets doubles it, as often as needed.
	Bucket time.Duration
	// Rungs of the ladder, best first; "primary" is put first where missing. At
	// most 8; later ones count as the last.
	Rungs []string
	// MaxTenants bounds memory (about 1 KiB a tenant and class): tenants beyond
	// it count as [Other]. 0 means 10,000.
	MaxTenants int
	// TenantQuantiles bounds how many tenants get histograms (up to 0.8 MiB
	// each): the first that reach 64 answers. 0 means 64, negative none.
	TenantQuantiles int
}

// A Collector counts one run. It is not safe for concurrent use: give every
// worker its own and [Collector.Merge] them at the end.
type Collector struct {
	options  Options
	classes  []*Class
	byClass  map[string]*Class
	tenants  []*tenant
	byTenant map[string]*tenant
	tallies  map[tallyKey]*Tally
	granted  int // tenants with histograms

	rungs   []string
	reasons []string // by number: the closed set, then the driver's own

	width   int64 // of a bucket of time, ns
	window  int64 // Options.For, ns; 0 unknown
	warning map[string]bool
	warned  Strings
}

// A Class collects what all tenants of a class share: quantiles, the course in
// time, slots and capacity.
type Class struct {
	name    string
	c       *Collector
	tallies []*Tally // in the order of their making

	latency, refused, wait histogram
	series
	shadow Shadow

	// Slot time there was until t is slotArea + slots x t: linear, so that
	// shards can be added up.
	slots    int64
	slotArea int64
	capacity float64
}

type tallyKey struct {
	class  *Class
	tenant *tenant
}

type tenant struct {
	name                   string
	c                      *Collector
	latency, refused, wait sampler
	has                    bool // histograms
}

// NewCollector returns an empty collector.
func NewCollector(o Options) *Collector {
	if o.MaxTenants <= 0 {
		o.MaxTenants = defaultTenants
	}
	if o.TenantQuantiles == 0 {
		o.TenantQuantiles = defaultTenantQuantiles
	}
	c := &Collector{
		options: o, window: max(0, int64(o.For)),
		byClass: map[string]*Class{}, byTenant: map[string]*tenant{}, tallies: map[tallyKey]*Tally{},
		rungs: []string{"primary"},
		width: bucketWidth(o), warning: map[string]bool{},
	}
	for r := range reason.Count {
		c.reasons = append(c.reasons, reason.Reason(r).String())
	}
	for _, name := range o.Rungs {
		c.Rung(name)
	}
	return c
}

// A Rung is the small number of a rung in one collector.
type Rung uint8

const (
	// Primary is the first rung.
	Primary Rung = 0
	// NoRung says that no rung answered: the request was refused, or left.
	NoRung Rung = 255
)

// Rung returns the number of a rung, giving it the next one where it is new.
func (c *Collector) Rung(name string) Rung {
	for i, known := range c.rungs {
		if known == name {
			return Rung(i)
		}
	}
	if len(c.rungs) == maxRungs {
		c.warn("rungs after the eighth are counted as the eighth, " + c.rungs[maxRungs-1])
		return maxRungs - 1
	}
	c.rungs = append(c.rungs, name)
	return Rung(len(c.rungs) - 1)
}

// RungName returns the name of a rung that Rung has numbered; empty for any other.
func (c *Collector) RungName(r Rung) string {
	if int(r) >= len(c.rungs) {
		return ""
	}
	return c.rungs[r]
}

// ReasonName returns the name of a reason, also of one that Reason has numbered; empty
// for any other.
func (c *Collector) ReasonName(r reason.Reason) string {
	if int(r) >= len(c.reasons) {
		return ""
	}
	return c.reasons[r]
}

// Reason returns the number of a reason: that of [reason.Parse] for the closed
// set. A driver may add twelve of its own; they are shown as failures, and
// later ones count as "failed".
func (c *Collector) Reason(name string) reason.Reason {
	for i, known := range c.reasons {
		if known == name {
			return reason.Reason(i)
		}
	}
	if len(c.reasons) == maxReasons {
		c.warn("reasons after the fortieth are counted as failed")
		return reason.Failed
	}
	c.reasons = append(c.reasons, name)
	return reason.Reason(len(c.reasons) - 1)
}

// Class returns the collector's account of a class, made where it is new.
// Classes are shown in the order of their making.
func (c *Collector) Class(name string) *Class {
	if cl := c.byClass[name]; cl != nil {
		return cl
	}
	if len(c.classes) >= maxClasses && name != Other {
		c.warn(fmt.Sprintf("classes after the first %d are counted as %q", maxClasses, Other))
		return c.Class(Other)
	}
	cl := &Class{name: name, c: c}
	c.classes = append(c.classes, cl)
	c.byClass[name] = cl
	return cl
}

// Slots says that from at (ns) on the class has n slots of its own. Without it
// there is no utilisation.
func (cl *Class) Slots(at int64, n int) {
	cl.slotArea += (cl.slots - int64(n)) * max(0, at)
	cl.slots = int64(n)
}

// Capacity says that from at (ns) on the class can serve perSecond requests a
// second in full: the dashed line of the river. 0 means unknown.
func (cl *Class) Capacity(at int64, perSecond float64) {
	cl.capacity = perSecond
	cl.bucket(at).capacity = perSecond
}

// Tally returns the handle for the requests of one tenant in one class; ask for
// it once and keep it. Its cost is that of two map look-ups, its memory about
// 0.8 KiB.
func (c *Collector) Tally(class, tenantName string) *Tally {
	cl := c.Class(class)
	of := c.tenant(tenantName)
	return cl.tally(of)
}

func (cl *Class) tally(of *tenant) *Tally {
	if t := cl.c.tallies[tallyKey{cl, of}]; t != nil {
		return t
	}
	t := &Tally{class: cl, tenant: of, window: cl.c.window}
	cl.tallies = append(cl.tallies, t)
	cl.c.tallies[tallyKey{cl, of}] = t
	return t
}

func (c *Collector) tenant(name string) *tenant {
	if t := c.byTenant[name]; t != nil {
		return t
	}
	if len(c.tenants) >= c.options.MaxTenants && name != Other {
		c.warn(fmt.Sprintf("tenants after the first %d are counted as %q", c.options.MaxTenants, Other))
		return c.tenant(Other)
	}
	t := &tenant{name: name, c: c}
	c.tenants = append(c.tenants, t)
	c.byTenant[name] = t
	return t
}

// granted reports whether the tenant may keep histograms, the bound permitting.
func (t *tenant) granted() bool {
	if !t.has && t.c.granted >= t.c.options.TenantQuantiles {
		t.c.warn(fmt.Sprintf("tenants beyond the first %d that reached %d answers have counts but no quantiles",
			max(0, t.c.options.TenantQuantiles), fewSamples))
		return false
	}
	if !t.has {
		t.has = true
		t.c.granted++
	}
	return true
}

// warn adds a line to the report's warnings, once.
func (c *Collector) warn(line string) {
	if !c.warning[line] {
		c.warning[line] = true
		c.warned = append(c.warned, line)
	}
}
