package workload

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// Rate is how many requests per second are offered, in steps. Its zero value
// offers nothing.
type Rate struct {
	steps []Step
}

// Step is a rate that holds for a time.
type Step struct {
	PerSecond float64       // 0, or from MinRate to MaxRate
	For       time.Duration // more than 0; 0 in the last step is for ever
}

// The requests per second a step may offer, if any: from one in 11 days to one
// in a nanosecond, the unit of time.
const (
	MinRate = 1e-6
	MaxRate = 1e9
)

// ConstantRate returns a rate that never changes.
func ConstantRate(perSecond float64) (Rate, error) {
	return Steps(Step{PerSecond: perSecond})
}

// Steps returns a rate of these steps in turn.
func Steps(steps ...Step) (Rate, error) {
	for i, s := range steps {
		switch {
		case s.PerSecond != 0 && !(s.PerSecond >= MinRate && s.PerSecond <= MaxRate):
			return Rate{}, fmt.Errorf("rate %v: must be 0, or from %v to %v requests per second", s.PerSecond, MinRate, MaxRate)
		case s.For < 0:
			return Rate{}, fmt.Errorf("step %v of the rate lasts %v: must be more than 0s", s.PerSecond, s.For)
		case s.For == 0 && i < len(steps)-1:
			return Rate{}, fmt.Errorf("step %v of the rate has no length: only the last may go on for ever; write %v:60s", s.PerSecond, s.PerSecond)
		}
	}
	if total := (Rate{steps}).Total(); total < 0 {
		return Rate{}, fmt.Errorf("the steps of the rate last longer than 292 years together")
	}
	return Rate{steps}, nil
}

// ParseRate reads a number of requests per second, which then holds for ever,
// or steps of RATE:LENGTH, of which the last may lack its length:
//
//	2000
//	100:60s,300:30s
//	100:60s,300
func ParseRate(text string) (Rate, error) {
	var steps []Step
	for part := range strings.SplitSeq(text, ",") {
		number, length, stepped := strings.Cut(strings.TrimSpace(part), ":")
		perSecond, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
		if err != nil || math.IsNaN(perSecond) {
			return Rate{}, fmt.Errorf("rate %q: %q is no number of requests per second; write 2000, or steps like 100:60s,300:30s", text, number)
		}
		s := Step{PerSecond: perSecond}
		if stepped {
			if s.For, err = time.ParseDuration(strings.TrimSpace(length)); err != nil {
				return Rate{}, fmt.Errorf("rate %q: %q is no length of a step; write it with a unit, like 100:60s", text, length)
			}
			if s.For <= 0 {
				return Rate{}, fmt.Errorf("rate %q: a step of %v has no length; it must be more than 0s", text, s.For)
			}
		}
		steps = append(steps, s)
	}
	r, err := Steps(steps...)
	if err != nil {
		return Rate{}, fmt.Errorf("rate %q: %w", text, err)
	}
	return r, nil
}

// String writes the rate as ParseRate reads it.
func (r Rate) String() string {
	if len(r.steps) == 0 {
		return "0"
	}
	var b strings.Builder
	for i, s := range r.steps {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(strconv.FormatFloat(s.PerSecond, 'g', -1, 64))
		if s.For > 0 {
			b.WriteByte(':')
			b.WriteString(s.For.String())
		}
	}
	return b.String()
}

// Steps returns a copy of the steps.
func (r Rate) Steps() []Step { return append([]Step(nil), r.steps...) }

// At returns the requests per second at an instant: 0 before the start and
// after the last step.
func (r Rate) At(t time.Duration) float64 {
	if t < 0 {
		return 0
	}
	for _, s := range r.steps {
		if s.For == 0 || t < s.For {
			return s.PerSecond
		}
		t -= s.For
	}
	return 0
}

// Total returns how long the steps last, and 0 if the last has no end.
func (r Rate) Total() time.Duration {
	var total time.Duration
	for _, s := range r.steps {
		if s.For == 0 {
			return 0
		}
		if total += s.For; total < 0 {
			return -1
		}
	}
	return total
}

// Times returns the rate multiplied by k.
func (r Rate) Times(k float64) (Rate, error) {
	steps := r.Steps()
	for i := range steps {
		steps[i].PerSecond = float64(steps[i].PerSecond * k)
	}
	return Steps(steps...)
}

// Expected returns how many requests are offered in the first length of time,
// on average.
func (r Rate) Expected(length time.Duration) float64 {
	sum := 0.0
	for _, s := range r.steps {
		d := length
		if s.For > 0 {
			d = min(d, s.For)
		}
		if d <= 0 {
			break
		}
		sum += float64(s.PerSecond * d.Seconds())
		length -= d
	}
	return sum
}
