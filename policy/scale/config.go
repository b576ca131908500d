package scale

import "time"

// Config says how a resource's figure is made. Zero means the default.
type Config struct {
	// Utilisation is how much of its slots is to be in use, 0.01 .. 1: what is
	// above it is for chance. Default 0.8.
	Utilisation float64
	// Rise is what the demand is a mean of. Default 15 s.
	Rise time.Duration
	// Fall is how long a demand is remembered that was higher. Default 5 min, as the
	// horizontal pod autoscaler waits before it takes copies away.
	Fall time.Duration
	// Hold is how long the figure stays as it was in an outage. Default 15 min.
	Hold time.Duration
}

// Defaults and bounds of Config.
const (
	UtilisationDefault = 0.8
	UtilisationLeast   = 0.01
	RiseDefault        = 15 * time.Second
	FallDefault        = 5 * time.Minute
	HoldDefault        = 15 * time.Minute
)

func (c Config) orDefault() Config {
	if !(c.Utilisation >= UtilisationLeast && c.Utilisation <= 1) {
		c.Utilisation = UtilisationDefault
	}
	if c.Rise <= 0 {
		c.Rise = RiseDefault
	}
	if c.Fall <= 0 {
		c.Fall = FallDefault
	}
	if c.Hold <= 0 {
		c.Hold = HoldDefault
	}
	return c
}
