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
	// Served is how many the resource has answered since the start, and Faults how many it
	// failed, did not answer in time, or was kept from by a breaker.
	Served, Faults int64
	// Holding is how long a request holds its slot, in the mean; zero or less: unknown.
	Holding time.Duration
	// Slots is how many there are.
	Slots int
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
	// Ratio is Desired over the slots that there are: above 1 there are too few. Load is
	// Demand over them, how full they would be. Both are zero where there are none.
	Ratio, Load float64
	// Measured is false in an outage and before there is anything to go by.
	Measured bool
	// Outage: more than half of what the resource was asked came to nothing.
	Outage bool
}

// Signal makes the figure of one resource. The zero Signal has seen nothing.
type Signal struct {
	config       Config
	looked       bool
	at           unit.Instant // of the latest look that counted
	before       Facts        // by then
	known        time.Duration
	rate         float64 // per second, as the two below: means over known
	served, lost float64
	peaks        peaks
	holding      time.Duration // as it was when that could be told
	outFrom      unit.Instant
	latest       Reading
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
	before, first := s.before, !s.looked
	s.looked, s.at, s.before = true, now, f
	if first || f.Offered < before.Offered || f.Served < before.Served || f.Faults < before.Faults {
		return s.latest
	}
	s.count(before, f, dt)
	s.outage(now, f.Served-before.Served, f.Faults-before.Faults)
	if s.latest.Outage && now.Sub(s.outFrom) < s.config.Hold {
		s.peaks.hold(now, s.config.Fall)
	} else {
		s.measure(now, f)
	}
	s.latest.Measured = !s.latest.Outage && s.holding > 0
	s.latest.OfferedPerS = s.rate
	s.latest.Ratio, s.latest.Load = 0, 0
	if f.Slots > 0 {
		s.latest.Ratio, s.latest.Load = s.latest.Desired/float64(f.Slots), s.latest.Demand/float64(f.Slots)
	}
	return s.latest
}

// count takes in what happened in the time dt: exponentially weighted means, over all
// there has been while that is less than Rise.
func (s *Signal) count(before, f Facts, dt time.Duration) {
	seconds := dt.Seconds()
	weight := seconds / (s.known.Seconds() + seconds)
	mean := func(was float64, n int64) float64 {
		return float64(was*(1-weight)) + float64(weight*(float64(n)/seconds))
	}
	s.rate = mean(s.rate, f.Offered-before.Offered)
	s.served = mean(s.served, f.Served-before.Served)
	s.lost = mean(s.lost, f.Faults-before.Faults)
	s.known = min(s.known+dt, s.config.Rise)
}

// outage judges by the latest look too: the mean needs Rise to see one, and until then
// callers who come back again and again would be taken for a demand.
func (s *Signal) outage(now unit.Instant, served, lost int64) {
	out := lost > served || s.lost > s.served
	if out && !s.latest.Outage {
		s.outFrom = now
	}
	s.latest.Outage = out
}

// sound is the share of faults up to which holding times say what the work takes.
const sound = 0.1

func (s *Signal) measure(now unit.Instant, f Facts) {
	if f.Holding > 0 && s.lost <= float64(sound*(s.served+s.lost)) {
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
