package scale

import (
	"math"
	"time"

	"github.com/spillway-dev/spillway/policy/unit"
)

// Facts is what is known of a resource at one look.
type Facts struct {
	// Offered is how many requests were offered since the start, refused ones and those
	// that took a cheaper rung included.
	Offered int64
	// Holding is how long a request holds its slot, in the mean; zero or less: unknown.
	Holding time.Duration
	// Slots is how many there are.
	Slots int
	// Outage: it fails or is kept from, so that nothing can be measured.
	Outage bool
}

// Reading is the figure.
type Reading struct {
	// OfferedPerS is requests a second, a mean over Config.Rise.
	OfferedPerS float64
	// Demand is how many slots they would hold.
	Demand float64
	// Desired is how many slots there should be: Demand with room for chance, not less
	// than the latest Config.Fall asked for.
	Desired float64
	// Ratio is Desired over the slots that there are: above 1 there are too few. Zero
	// where there are none.
	Ratio float64
	// Measured is false in an outage and before there is anything to go by.
	Measured bool
}

// Signal makes the figure of one resource. The zero Signal has seen nothing.
type Signal struct {
	config  Config
	looked  bool
	at      unit.Instant // of the latest look that counted
	offered int64        // by then
	rate    float64      // per second
	known   time.Duration
	peaks   peaks
	holding time.Duration // as it was when that could be told
	out     bool
	outFrom unit.Instant
	latest  Reading
}

// lookEvery is the least time between two looks that count: the rate of less is luck.
const lookEvery = 100 * time.Millisecond

// New returns a signal.
func New(c Config) Signal { return Signal{config: c.orDefault()} }

// Reconfigure changes how the figure is made. What was seen stays.
func (s *Signal) Reconfigure(c Config) { s.config = c.orDefault() }

// Look brings the figure up to now and returns it. Look a few times within Config.Rise;
// a look too soon after the one before changes nothing.
func (s *Signal) Look(now unit.Instant, f Facts) Reading {
	dt := now.Sub(s.at)
	if s.looked && dt < lookEvery {
		return s.latest
	}
	s.outage(now, f.Outage)
	n := f.Offered - s.offered
	first := !s.looked
	s.looked, s.at, s.offered = true, now, f.Offered
	if first || n < 0 {
		return s.latest
	}
	s.count(float64(n), dt)
	if s.out && now.Sub(s.outFrom) < s.config.Hold {
		s.peaks.hold(now, s.config.Fall)
	} else {
		s.measure(now, f)
	}
	s.latest.Measured = !s.out && s.holding > 0
	s.latest.OfferedPerS = s.rate
	s.latest.Ratio = 0
	if f.Slots > 0 {
		s.latest.Ratio = s.latest.Desired / float64(f.Slots)
	}
	return s.latest
}

func (s *Signal) outage(now unit.Instant, out bool) {
	if out && !s.out {
		s.outFrom = now
	}
	s.out = out
}

// count takes in what was offered in the time dt: an exponentially weighted mean, of all
// there has been while that is less than Rise.
func (s *Signal) count(n float64, dt time.Duration) {
	seconds := dt.Seconds()
	over := float64(min(s.known, s.config.Rise).Seconds()) + seconds
	weight := seconds / over
	s.rate = float64(s.rate*(1-weight)) + float64(weight*(n/seconds))
	s.known = min(s.known+dt, s.config.Rise)
}

func (s *Signal) measure(now unit.Instant, f Facts) {
	if f.Holding > 0 && !s.out {
		s.holding = f.Holding
	}
	s.latest.Demand = float64(s.rate * s.holding.Seconds())
	s.peaks.add(now, s.latest.Demand, s.config.Fall)
	s.latest.Desired = s.peaks.most() / s.config.Utilisation
}

// Replicas returns how many copies of so many slots each the desired slots take, at
// least one; zero where a copy has none.
func (r Reading) Replicas(slotsEach int) int {
	if slotsEach <= 0 {
		return 0
	}
	return int(max(1, math.Ceil(r.Desired/float64(slotsEach)-hair)))
}

// hair is how much more than a whole number is that number: sums of floats are no reason
// for another copy.
const hair = 1e-9
