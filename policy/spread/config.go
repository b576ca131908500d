package spread

import "time"

// Config is what is known of an upstream's copies and when one is left out.
// The zero value takes every default.
type Config struct {
	// Slots is how many requests all copies together can work on at once, each in
	// the part that falls to its weight, rounded up; 0: not known.
	Slots int
	// Connections caps what a single copy is given at once; 0: no cap.
	Connections int

	// Keep leaves no copy out for what became of its calls.
	Keep bool
	// InARow is how many calls must fail in a row for a copy to be ejected.
	// Zero or less: InARowDefault.
	InARow int
	// Share is the percentage of failed calls within Window, 1 to 100, at which
	// it is ejected, if there were at least ShareCalls. Zero or less: ShareDefault.
	Share int
	// Window is how far back Share looks: the last half to whole of it. Zero or less:
	// WindowDefault.
	Window time.Duration
	// For is how long a first ejection lasts; the n-th in short order lasts n times as
	// long, up to TimesMax. Zero or less: ForDefault.
	For time.Duration
	// AtMost is the percentage of copies that may be out at the same time, 1 to 100,
	// each counted as one whatever its weight; those of none are not counted.
	// Zero or less: AtMostDefault.
	AtMost int

	// Healthy and Unhealthy are how many checks in a row turn a copy good or bad.
	// Zero or less: HealthyDefault, UnhealthyDefault.
	Healthy, Unhealthy int
}

// Defaults of Config, and bounds that have no key.
const (
	// InARowDefault is Envoy's consecutive_5xx and Istio's default.
	InARowDefault = 5
	// ShareDefault: a copy that fails every other call is worse than none.
	ShareDefault = 50
	// ShareCalls is how many calls a share must rest on. At 20 and a true
	// failure rate of 10 %, half of them fail by chance once in 10^5 windows.
	ShareCalls = 20
	// WindowDefault and ForDefault are how long a restart commonly takes.
	WindowDefault = 10 * time.Second
	ForDefault    = 10 * time.Second
	// TimesMax caps how much longer a repeated ejection lasts.
	TimesMax = 10
	// AtMostDefault leaves half of the copies in, so that what is left can be
	// expected to carry the load.
	AtMostDefault = 50
	// HealthyDefault and UnhealthyDefault are what balancers commonly ask for.
	HealthyDefault   = 2
	UnhealthyDefault = 3

	// CopiesMax is the most copies that are in use at the same time.
	CopiesMax = 256
	// RampMin and RampMax bound how long slow start takes.
	RampMin = time.Second
	RampMax = time.Minute
	// LateFactor is how many times the mean time of answered calls a call must have
	// taken for its lateness to be the copy's fault.
	LateFactor = 2
)

// withDefaults returns the configuration with every default filled in.
func (c Config) withDefaults() Config {
	def := func(n *int, v int) {
		if *n <= 0 {
			*n = v
		}
	}
	def(&c.InARow, InARowDefault)
	def(&c.Share, ShareDefault)
	def(&c.Healthy, HealthyDefault)
	def(&c.Unhealthy, UnhealthyDefault)
	def(&c.AtMost, AtMostDefault)
	if c.Window <= 0 {
		c.Window = WindowDefault
	}
	if c.For <= 0 {
		c.For = ForDefault
	}
	c.AtMost = min(c.AtMost, 100)
	return c
}
