package workload

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

const serviceForms = "write 100ms, exp:100ms, uniform:1s-2s, lognormal:mean=100ms,p99=400ms, mix:0.99*2.9ms,0.01*1.5s or trace"

// ParseService reads a law of service times:
//
//	100ms                            every time
//	exp:100ms                        exponential with this mean
//	uniform:1s-2s                    from, to
//	lognormal:mean=100ms,p99=400ms   p99 from 1 to 14.9 times the mean
//	mix:0.99*2.9ms,0.01*exp:1.5s     share*law, only the ratios of shares matter
//	trace                            as recorded
func ParseService(text string) (Service, error) {
	s, err := parseService(strings.TrimSpace(text))
	if err != nil {
		return Service{}, fmt.Errorf("service time %q: %w", text, err)
	}
	return s, nil
}

func parseService(text string) (Service, error) {
	name, arguments, has := strings.Cut(text, ":")
	switch {
	case text == "trace":
		return FromTrace(), nil
	case !has:
		d, err := duration(text)
		if err != nil {
			return Service{}, fmt.Errorf("%w; %s", err, serviceForms)
		}
		return ConstantService(d)
	}
	switch name {
	case "exp":
		mean, err := duration(arguments)
		if err != nil {
			return Service{}, err
		}
		return ExponentialService(mean)
	case "uniform":
		from, to, _ := strings.Cut(arguments, "-")
		low, err := duration(from)
		if err != nil {
			return Service{}, fmt.Errorf("%w; write uniform:1s-2s", err)
		}
		high, err := duration(to)
		if err != nil {
			return Service{}, fmt.Errorf("%w; write uniform:1s-2s", err)
		}
		return UniformService(low, high)
	case "lognormal":
		var mean, p99 time.Duration
		if err := parseArguments(arguments, map[string]*time.Duration{"mean": &mean, "p99": &p99}); err != nil {
			return Service{}, fmt.Errorf("%w; write lognormal:mean=100ms,p99=400ms", err)
		}
		return LogNormalService(mean, p99)
	case "mix":
		return parseMixture(arguments)
	}
	return Service{}, fmt.Errorf("there is no law %q; %s", name, serviceForms)
}

func parseMixture(text string) (Service, error) {
	var parts []Part
	pieces := strings.Split(text, ",")
	for i := 0; i < len(pieces); i++ {
		share, law, starred := strings.Cut(pieces[i], "*")
		// A piece without a star belongs to the law before it: p99=4ms of a lognormal.
		for i+1 < len(pieces) && !strings.Contains(pieces[i+1], "*") {
			i++
			law += "," + pieces[i]
		}
		number, err := strconv.ParseFloat(strings.TrimSpace(share), 64)
		if err != nil || !starred {
			return Service{}, fmt.Errorf("%q is not a share and a law; write 0.01*1.5s", pieces[i])
		}
		if strings.HasPrefix(strings.TrimSpace(law), "mix:") {
			return Service{}, fmt.Errorf("a mix cannot be a part of a mix: write all its parts into one")
		}
		s, err := parseService(strings.TrimSpace(law))
		if err != nil {
			return Service{}, err
		}
		parts = append(parts, Part{number, s})
	}
	return MixedService(parts...)
}

func duration(text string) (time.Duration, error) {
	d, err := time.ParseDuration(strings.TrimSpace(text))
	if err != nil {
		return 0, fmt.Errorf("%q is no length of time with a unit, like 100ms", text)
	}
	return d, nil
}

// String writes the law as ParseService reads it.
func (s Service) String() string {
	switch s.law {
	case constant:
		return s.low.String()
	case exponential:
		return "exp:" + s.low.String()
	case uniform:
		return fmt.Sprintf("uniform:%v-%v", s.low, s.high)
	case logNormal:
		return fmt.Sprintf("lognormal:mean=%v,p99=%v", s.low, s.p99)
	case mixture:
		parts := make([]string, len(s.parts))
		for i, p := range s.parts {
			parts[i] = strconv.FormatFloat(p.Share, 'g', -1, 64) + "*" + p.Service.String()
		}
		return "mix:" + strings.Join(parts, ",")
	}
	return "trace"
}
