package limit

import (
	"fmt"
)

// Law says how a limit follows what is measured.
type Law uint8

// The laws. Knee is spillway's own and the default of everything that adapts; the
// others are published ones, written anew from their descriptions, to be compared
// with and for who wants what he knows.
const (
	// Constant is the configured figure.
	Constant Law = iota
	// Knee finds where more at once no longer gives more a second.
	Knee
	// AIMD rises by one a turn and falls by a tenth at a drop (Chiu and Jain,
	// 1989, with the factor of Netflix's concurrency-limits).
	AIMD
	// Vegas keeps the queue inside the resource between two bounds (Brakmo and
	// Peterson, 1995, with the constants of Netflix's concurrency-limits).
	Vegas
	// Gradient2 follows the ratio of a long to a short mean of latencies
	// (Netflix's concurrency-limits).
	Gradient2
	// MinRTT is the gradient controller of Envoy's adaptive concurrency filter,
	// from its documentation: it measures the least latency at a small limit
	// every minute and follows the ratio to it.
	MinRTT
	// Foreign is whatever Config.Maker makes.
	Foreign
)

var lawNames = [...]string{"fixed", "knee", "aimd", "vegas", "gradient2", "min-rtt", "foreign"}

// String returns the law as the configuration writes it.
func (l Law) String() string {
	if int(l) < len(lawNames) {
		return lawNames[l]
	}
	return fmt.Sprintf("law %d", uint8(l))
}

// Config is how a limit is found. The zero value is a constant one.
type Config struct {
	Law Law
	// Start is the limit before anything was measured. Zero or less: StartDefault,
	// inside the bounds.
	Start int
	// Floor is the least that it may fall to. Zero or less: 1. What is measured
	// while a floor binds is no measure of the resource at ease.
	Floor int
	// Ceiling is the most that it may rise to. Zero or less: CeilingDefault.
	Ceiling int
	// Seed determines by how much the instants are moved at which it looks lower
	// or higher, so that several guards of one resource do not look at once.
	Seed uint64
	// Maker makes the limiter of the law Foreign; no other has one.
	Maker *Maker
}

// A Maker makes limiters of a law that is not ours, so that it can stand where ours
// do. Two configurations with one Maker are of one law.
type Maker struct {
	// New returns a limiter for a configuration with defaults filled in. Its limit
	// must stay inside Floor and Ceiling.
	New func(Config) Limiter
}

// Defaults of a limit that adapts.
const (
	StartDefault   = 20
	CeilingDefault = 1000
)

// Max is the highest ceiling.
const Max = 1 << 24

// WithDefaults returns the configuration with every zero value that stands for a
// default filled in, and the start inside the bounds.
func (c Config) WithDefaults() Config {
	def := func(v *int, d int) {
		if *v <= 0 {
			*v = d
		}
	}
	def(&c.Floor, 1)
	def(&c.Ceiling, max(CeilingDefault, c.Floor))
	def(&c.Start, StartDefault)
	c.Start = min(max(c.Start, c.Floor), c.Ceiling)
	return c
}

// Validate returns what is wrong with the configuration, or nil.
func (c *Config) Validate() error {
	switch {
	case c.Law > Foreign:
		return fmt.Errorf("%v is not known", c.Law)
	case (c.Law == Foreign) != (c.Maker != nil && c.Maker.New != nil):
		return fmt.Errorf("the law is %v: a maker makes the foreign one, and no other", c.Law)
	case c.Floor > Max || c.Ceiling > Max || c.Start > Max:
		return fmt.Errorf("a limit from %d to %d, starting at %d: at most %d makes sense", c.Floor, c.Ceiling, c.Start, Max)
	case c.Ceiling > 0 && c.Ceiling < c.Floor:
		return fmt.Errorf("a limit from %d to %d: the least exceeds the most", c.Floor, c.Ceiling)
	}
	return nil
}

// New returns the limiter of a valid configuration.
func New(c Config) Limiter {
	if c.Law == Constant {
		return Fixed(c.Start)
	}
	c = c.WithDefaults()
	switch c.Law {
	case AIMD:
		return newAIMD(c)
	case Vegas:
		return newVegas(c)
	case Gradient2:
		return newGradient2(c)
	case MinRTT:
		return newMinRTT(c)
	case Foreign:
		return c.Maker.New(c)
	}
	return newKnee(c)
}
