package boundary

import (
	"errors"
	"fmt"
	"time"

	"github.com/spillway-dev/spillway/policy/chance"
	"github.com/spillway-dev/spillway/policy/fair"
	"github.com/spillway-dev/spillway/policy/limit"
	"github.com/spillway-dev/spillway/policy/pool"
	"github.com/spillway-dev/spillway/policy/quota"
	"github.com/spillway-dev/spillway/policy/rate"
	"github.com/spillway-dev/spillway/policy/shed"
	"github.com/spillway-dev/spillway/policy/unit"
)

// Config is one resource and the classes that use it. It is not changed after
// it was handed over.
type Config struct {
	Name    string
	Classes []Class
	// Limit says how the limit is found that the classes share. Its zero value is
	// the sum of their Slots; see Class.Floor for one that adapts, whose Floor and
	// Ceiling are cut to what the classes together must and may have.
	Limit limit.Config
	// Unused is a resource that no class uses any more: Classes may be empty.
	// What waits and runs drains. For Reconfigure.
	Unused bool
	// Seed determines all chance in the machine (the jitter of retry hints). It
	// counts at the start; chance goes on where it is when it is changed.
	Seed uint64
	// Clients is what one client may ask of the resource, over all classes that
	// have no rule of their own. The zero Rule limits nobody.
	Clients rate.Rule
	// ClientsKept is how many clients are told apart at once, 32 bytes each; see
	// rate.NewTable. 0: rate.EntriesDefault.
	ClientsKept int
	// Wall is what the calendar says at the instant 0, in nanoseconds since 1970:
	// quotas by the day or month go by it. It counts at the start.
	Wall unit.Instant
	// Strict makes a broken invariant panic, for tests and simulation. Live
	// it is counted (Machine.Bugs) and the request is admitted or let go.
	Strict bool
}

// Class is a criticality class: one pool and the rules of its boundary.
type Class struct {
	Name string
	Pool pool.Config

	// Floor is how many slots the class is guaranteed under a limit that adapts,
	// however low; less than 1 counts as 1. Its Pool's Slots, with its Borrow, are
	// then the most that it may hold.
	Floor int
	// Deadline applies when the caller names none, and DeadlineMax caps what
	// it may name. Zero or less: DeadlineDefault, DeadlineMaxDefault.
	Deadline, DeadlineMax time.Duration
	// Reserve is kept back of every deadline, at most half of it, so that what is
	// not served in time can be given a cheaper answer in time (ladder.InTime). Zero
	// or less: nothing.
	Reserve time.Duration
	// AdmitHopeless switches the feasibility check off: requests that cannot
	// be answered in time are let in all the same.
	AdmitHopeless bool
	// Mode is which of the class's decisions are carried out.
	Mode Mode
	// Call says how the class calls what it protects; only requests whose
	// decision is not carried out make use of it.
	Call Call
	// Clients, if set, is what one client may ask of this class, instead of the
	// resource's rule and counted apart from it.
	Clients *rate.Rule
	// Shed, if set, has the class answer with less, before anybody waits, whom a
	// cheaper answer costs least, as far as not all can be served.
	Shed *shed.Rule
	// Quotas are all that a request of the class takes of, each of which must have
	// room; see quota.go. Tenants can have limits of their own only where they are
	// told apart: not under fair.Fifo.
	Quotas []quota.Quota
	// Streams is what answers cost that go on for long.
	Streams Streams
	// HoldAtMost is how long abandoned work may keep its slot. Zero or less:
	// HoldAtMostDefault.
	HoldAtMost time.Duration
	// RetryAfterMax caps retry hints. Zero or less: RetryAfterMaxDefault.
	RetryAfterMax time.Duration
	// Held keeps the class from starting anything: what is offered waits or is
	// refused as if every slot were taken, until a configuration without it.
	// What runs goes on.
	Held bool
}

// Defaults of a class.
const (
	DeadlineDefault    = 30 * time.Second
	DeadlineMaxDefault = 5 * time.Minute
	HoldAtMostDefault  = 30 * time.Second
	// RetryAfterMaxDefault is half of the shortest wait beyond which an
	// official model client stops obeying the header and comes back early
	// (60 s; 120 s for one).
	RetryAfterMaxDefault = 30 * time.Second
)

// SlotsMax is the most slots of a class: more than any service runs at once,
// and few enough for sums to stay far from overflow.
const SlotsMax = 1 << 24

// ClassesMax is the most classes that a machine knows in its life, those that
// were removed included: their accounts stay. It is room for a new name a minute
// for a week, and bounds what a program that invents names can do.
const ClassesMax = 10_000

// WithDefaults returns the class with every zero value that stands for a
// default filled in.
func (c Class) WithDefaults() Class {
	def := func(d *time.Duration, v time.Duration) {
		if *d <= 0 {
			*d = v
		}
	}
	def(&c.DeadlineMax, DeadlineMaxDefault)
	def(&c.Deadline, min(DeadlineDefault, c.DeadlineMax))
	def(&c.HoldAtMost, HoldAtMostDefault)
	def(&c.RetryAfterMax, RetryAfterMaxDefault)
	return c
}

// pool returns the configuration of the class's pool, with what the class's rules
// say of it.
func (c *Class) pool() pool.Config {
	p := c.Pool
	p.ServeLate = c.AdmitHopeless
	return p
}

// Validate returns every fault of the configuration, joined, or nil.
func (cfg *Config) Validate() error {
	var errs []error
	fault := func(format string, a ...any) { errs = append(errs, fmt.Errorf(format, a...)) }
	if len(cfg.Classes) == 0 && !cfg.Unused {
		fault("resource %q has no classes; give it at least one", cfg.Name)
	}
	if err := cfg.Limit.Validate(); err != nil {
		fault("resource %q: %w", cfg.Name, err)
	}
	names := make(map[string]bool, len(cfg.Classes))
	for i := range cfg.Classes {
		cl := &cfg.Classes[i]
		if names[cl.Name] {
			fault("class %q appears twice; names must differ", cl.Name)
		}
		names[cl.Name] = true
		switch slots, borrow := cl.Pool.Slots, cl.Pool.Borrow; {
		case slots < 0 || borrow < 0 || slots+borrow == 0:
			fault("class %q: slots %d, borrow %d: nothing could ever run; slots must be at least 1", cl.Name, slots, borrow)
		case slots > SlotsMax || borrow > SlotsMax:
			fault("class %q: slots %d, borrow %d: at most %d make sense", cl.Name, slots, borrow, SlotsMax)
		}
		if cl.Floor > cl.Pool.Slots {
			fault("class %q: a floor of %d above its %d slots; it is at most those", cl.Name, cl.Floor, cl.Pool.Slots)
		}
		if cl.Pool.Levels < 0 || cl.Pool.Levels > pool.LevelsMax {
			fault("class %q: %d importance levels; 1 to %d can be told apart", cl.Name, cl.Pool.Levels, pool.LevelsMax)
		}
		if cl.Mode.Kind > Off || cl.Mode.Share < 0 || cl.Mode.Share > chance.Whole {
			fault("class %q: mode %d with a share of %d; a share is 0 to %d millionths", cl.Name, cl.Mode.Kind, cl.Mode.Share, chance.Whole)
		}
		if cl.Pool.WhenFull == pool.Block && cl.Pool.BlockFor <= 0 {
			fault("class %q: block for %v; it must be positive, for example 50ms", cl.Name, cl.Pool.BlockFor)
		}
		if cl.DeadlineMax > 0 && cl.Deadline > cl.DeadlineMax {
			fault("class %q: deadline %v exceeds max deadline %v", cl.Name, cl.Deadline, cl.DeadlineMax)
		}
		if cl.Shed != nil {
			if err := cl.Shed.Validate(); err != nil {
				fault("class %q: %w", cl.Name, err)
			}
		}
		if err := cl.validQuotas(); err != nil {
			fault("class %q: %w", cl.Name, err)
		}
		for name, w := range cl.Pool.Tenants.Weights { // order does not matter: each fault stands by itself
			if w < 1 {
				fault("class %q: tenant %q has weight %d; it must be at least 1", cl.Name, name, w)
			}
		}
	}
	return errors.Join(errs...)
}

func (c *Class) validQuotas() error {
	for i := range c.Quotas {
		q := &c.Quotas[i]
		if c.Pool.Tenants.Policy == fair.Fifo && len(q.Tenant)+len(q.Tenants) > 0 {
			return fmt.Errorf("quota %s has limits for each tenant, and all tenants wait in one line: one without budget would hold up all others; choose another policy than fifo", q.Name)
		}
		if err := q.Validate(); err != nil {
			return err
		}
	}
	return nil
}
