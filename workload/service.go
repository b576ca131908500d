package workload

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/spillway-dev/spillway/workload/dice"
)

// Service is a law of service times: how long a request holds a slot when
// nothing is wrong. Its zero value is FromTrace. Safe for concurrent use; a
// draw allocates nothing.
type Service struct {
	law       law
	low, high time.Duration // constant: low; exponential: low is the mean; uniform: [low, high)
	p99       time.Duration // log-normal, low being the mean
	mu, sigma float64       // of ln(ns)
	parts     []Part
	upTo      []float64 // of parts, cumulative
}

// Part is a law and its share of a mixture.
type Part struct {
	Share   float64 // any positive number: only the ratios matter
	Service Service
}

type law uint8

const (
	fromTrace law = iota
	constant
	exponential
	uniform
	logNormal
	mixture
)

// MaxService is the longest service time a law may be given: what takes longer
// is no request.
const MaxService = 24 * time.Hour

// FromTrace leaves the service times as a trace has them.
func FromTrace() Service { return Service{} }

// ConstantService takes d every time.
func ConstantService(d time.Duration) (Service, error) {
	return Service{law: constant, low: d}, checkService(d)
}

// ExponentialService has this mean and no memory.
func ExponentialService(mean time.Duration) (Service, error) {
	return Service{law: exponential, low: mean}, checkService(mean)
}

// UniformService takes from low up to high, all alike.
func UniformService(low, high time.Duration) (Service, error) {
	if low >= high {
		return Service{}, fmt.Errorf("service time uniform from %v to %v: the second must be more", low, high)
	}
	return Service{law: uniform, low: low, high: high}, checkService(low, high)
}

// LogNormalService has this mean and this 99th percentile, which must be from 1
// to 14.9 times the mean.
func LogNormalService(mean, p99 time.Duration) (Service, error) {
	if err := checkService(mean, p99); err != nil {
		return Service{}, err
	}
	mu, sigma, err := dice.LogNormalOf(float64(mean), float64(p99))
	if err != nil {
		return Service{}, fmt.Errorf("service time lognormal:mean=%v,p99=%v: the p99 must be from 1 to 14.9 times the mean", mean, p99)
	}
	return Service{law: logNormal, low: mean, p99: p99, mu: mu, sigma: sigma}, nil
}

// MixedService chooses one of parts for each request. Parts may not be mixtures
// themselves, nor FromTrace.
func MixedService(parts ...Part) (Service, error) {
	if len(parts) == 0 || len(parts) > 1000 {
		return Service{}, fmt.Errorf("a mixed service time has %d parts: must be 1 to 1,000", len(parts))
	}
	s := Service{law: mixture, parts: slices.Clone(parts)}
	sum := 0.0
	for _, p := range parts {
		if !(p.Share > 0) || math.IsInf(p.Share, 0) {
			return Service{}, fmt.Errorf("share %v of service time %v: must be a number above 0", p.Share, p.Service)
		}
		if p.Service.law == mixture || p.Service.law == fromTrace {
			return Service{}, fmt.Errorf("%v cannot be a part of a mixed service time", p.Service)
		}
		sum += p.Share
		s.upTo = append(s.upTo, sum)
	}
	if math.IsInf(sum, 0) {
		return Service{}, fmt.Errorf("the shares of a mixed service time add up to more than a number can hold")
	}
	return s, nil
}

func checkService(times ...time.Duration) error {
	for _, d := range times {
		if d <= 0 || d > MaxService {
			return fmt.Errorf("service time %v: must be more than 0s and at most %v", d, MaxService)
		}
	}
	return nil
}

// Traced reports whether the law leaves service times to the trace.
func (s Service) Traced() bool { return s.law == fromTrace }

// Draw returns one service time, 1 ns at least; 0 if Traced.
func (s *Service) Draw(d *dice.Dice) time.Duration {
	var ns float64
	switch s.law {
	case fromTrace:
		return 0
	case constant:
		return s.low
	case exponential:
		ns = float64(float64(s.low) * d.Exp())
	case uniform:
		ns = float64(s.low) + float64(d.Float64()*float64(s.high-s.low))
	case logNormal:
		ns = d.LogNormal(s.mu, s.sigma)
	case mixture:
		x := float64(d.Float64() * s.upTo[len(s.upTo)-1])
		for i, upTo := range s.upTo {
			if x < upTo || i == len(s.upTo)-1 {
				return s.parts[i].Service.Draw(d)
			}
		}
	}
	return max(1, time.Duration(ns))
}

// Mean returns the mean of the law; 0 if Traced.
func (s Service) Mean() time.Duration {
	switch s.law {
	case uniform:
		return s.low + (s.high-s.low)/2
	case mixture:
		sum := 0.0
		for _, p := range s.parts {
			sum += float64(p.Share * float64(p.Service.Mean()))
		}
		return time.Duration(math.Round(sum / s.upTo[len(s.upTo)-1]))
	}
	return s.low
}
