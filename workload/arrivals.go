package workload

import (
	"fmt"
	"strings"
	"time"

	"github.com/spillway-dev/spillway/workload/dice"
)

// Arrivals is how arrivals are spread at a given rate. Its zero value is
// Poisson.
type Arrivals struct {
	constant bool
	on, off  time.Duration // both above 0 for bursts
}

var (
	// Poisson arrivals come independently of each other: callers who do not know
	// of one another.
	Poisson = Arrivals{}
	// Constant arrivals keep equal distances, the first at the start of a step:
	// easiest to do by hand, kinder than any real traffic.
	Constant = Arrivals{constant: true}
)

// Bursts are Poisson arrivals during on, none during off, and so on in turn
// from the start. The rate is the mean over on and off, so that it is exceeded
// by (on+off)/on while they come.
func Bursts(on, off time.Duration) (Arrivals, error) {
	if on < time.Millisecond || off < time.Millisecond || on+off < 0 {
		return Arrivals{}, fmt.Errorf("bursts on for %v and off for %v: both must be 1ms or more", on, off)
	}
	return Arrivals{on: on, off: off}, nil
}

// ParseArrivals reads poisson, constant, or bursts:on=1s,off=9s.
func ParseArrivals(text string) (Arrivals, error) {
	law, arguments, _ := strings.Cut(strings.TrimSpace(text), ":")
	switch {
	case text == "poisson":
		return Poisson, nil
	case text == "constant":
		return Constant, nil
	case law == "bursts":
		var on, off time.Duration
		if err := parseArguments(arguments, map[string]*time.Duration{"on": &on, "off": &off}); err != nil {
			return Arrivals{}, fmt.Errorf("arrivals %q: %w; write bursts:on=1s,off=9s", text, err)
		}
		a, err := Bursts(on, off)
		if err != nil {
			return Arrivals{}, fmt.Errorf("arrivals %q: %w", text, err)
		}
		return a, nil
	}
	return Arrivals{}, fmt.Errorf("arrivals %q: write poisson, constant or bursts:on=1s,off=9s", text)
}

// String writes the arrivals as ParseArrivals reads them.
func (a Arrivals) String() string {
	switch {
	case a.constant:
		return "constant"
	case a.on > 0:
		return fmt.Sprintf("bursts:on=%v,off=%v", a.on, a.off)
	}
	return "poisson"
}

// parseArguments reads key=duration,key=duration; every key of into once.
func parseArguments(text string, into map[string]*time.Duration) error {
	given := 0
	for part := range strings.SplitSeq(text, ",") {
		key, value, _ := strings.Cut(strings.TrimSpace(part), "=")
		d, known := into[key]
		if !known || *d != 0 {
			return fmt.Errorf("%q is not expected here", part)
		}
		var err error
		if *d, err = time.ParseDuration(value); err != nil || *d <= 0 {
			return fmt.Errorf("%s=%q is no length of time above 0s with a unit", key, value)
		}
		given++
	}
	if given < len(into) {
		return fmt.Errorf("an argument is missing")
	}
	return nil
}

// instants yields the instants of one arrival process in order.
//
// The rate is constant within a stretch: a step of the rate, cut where bursts
// turn on or off. Constant arrivals count from the start of their step, so that
// nothing adds up. Poisson arrivals spend exponentials of mean 1 on the area
// under the rate; what a stretch does not use goes on into the next.
type instants struct {
	law   Arrivals
	dice  *dice.Dice
	steps []Step
	end   time.Duration // exclusive; 0 is never

	step      int           // the current one
	stepFrom  time.Duration // its start
	stepUntil time.Duration // its end, exclusive
	count     int64         // constant: arrivals in this step so far

	at       time.Duration // Poisson: where we are, and
	fraction float64       // the part of a nanosecond beyond it
	due      float64       // area still to pass until the next arrival; below 0 is not drawn
}

const never = time.Duration(1<<63 - 1)

func newInstants(rate Rate, law Arrivals, length time.Duration, d *dice.Dice) *instants {
	p := &instants{law: law, dice: d, steps: rate.steps, end: never, due: -1}
	if length > 0 {
		p.end = length
	}
	p.enter(0)
	return p
}

// enter starts step i, which begins where the last one ended.
func (p *instants) enter(i int) {
	p.step, p.stepFrom, p.count = i, p.stepUntil, 0
	p.at, p.fraction = p.stepFrom, 0
	if i < len(p.steps) {
		p.stepUntil = never
		if p.steps[i].For > 0 {
			p.stepUntil = p.stepFrom + p.steps[i].For
		}
		p.stepUntil = min(p.stepUntil, p.end)
	}
}

func (p *instants) next() (time.Duration, bool) {
	for p.step < len(p.steps) && p.stepFrom < p.end {
		var at time.Duration
		if p.law.constant {
			at = p.nextConstant()
		} else {
			at = p.nextPoisson()
		}
		if at < p.stepUntil {
			return at, true
		}
		p.enter(p.step + 1)
	}
	return 0, false
}

// nextConstant returns the next arrival, at or beyond the end of the step if it
// has none.
func (p *instants) nextConstant() time.Duration {
	rate := p.steps[p.step].PerSecond
	if rate == 0 {
		return never
	}
	offset := float64(p.count) * 1e9 / rate
	if offset >= float64(p.stepUntil-p.stepFrom) {
		return never
	}
	p.count++
	return p.stepFrom + time.Duration(offset)
}

func (p *instants) nextPoisson() time.Duration {
	if p.due < 0 {
		p.due = p.dice.Exp()
	}
	for p.at < p.stepUntil {
		rate, until := p.stretch()
		if rate > 0 {
			left := float64(until-p.at) - p.fraction // ns; never is large enough to be exact enough
			gap := float64(p.due * (1e9 / rate))
			if gap < left {
				p.fraction += gap
				whole := time.Duration(p.fraction)
				p.at += whole
				p.fraction -= float64(whole)
				p.due = -1
				return p.at
			}
			p.due = max(0, p.due-float64(left*(rate*1e-9)))
		}
		p.at, p.fraction = until, 0
	}
	return never
}

// stretch returns the rate at p.at and until when it holds.
func (p *instants) stretch() (rate float64, until time.Duration) {
	rate = p.steps[p.step].PerSecond
	if p.law.on == 0 || rate == 0 {
		return rate, p.stepUntil
	}
	cycle := p.law.on + p.law.off
	phase := p.at % cycle
	if phase >= p.law.on {
		return 0, min(p.stepUntil, later(p.at, cycle-phase))
	}
	return float64(rate * (float64(cycle) / float64(p.law.on))), min(p.stepUntil, later(p.at, p.law.on-phase))
}

// later adds without overflow.
func later(t, d time.Duration) time.Duration {
	if t > never-d {
		return never
	}
	return t + d
}
