package workload

import (
	"fmt"
	"time"

	"github.com/spillway-dev/spillway/workload/dice"
)

// Until ends a source at an instant, exclusive.
func Until(source Source, end time.Duration) Source {
	return &filtered{source, func(a *Arrival) bool { return a.At < end }}
}

// Take ends a source after n arrivals.
func Take(source Source, n int64) Source {
	return &filtered{source, func(*Arrival) bool { n--; return n >= 0 }}
}

// Speed makes time pass k times as fast: arrivals at At/k. Service times and
// deadlines stay, so the load is k times as much. k is from 0.000001 to
// 1,000,000.
func Speed(source Source, k float64) (Source, error) {
	if err := checkFactor("speed", k); err != nil {
		return nil, err
	}
	return &filtered{source, func(a *Arrival) bool {
		a.At = time.Duration(float64(a.At) / k)
		return true
	}}, nil
}

// WithService gives every arrival a service time of this law, in place of its
// own. If the law is FromTrace, the source is returned as it is.
func WithService(source Source, service Service, seed uint64, stream string) Source {
	if service.Traced() {
		return source
	}
	d := dice.New(seed, stream+"/service")
	return &filtered{source, func(a *Arrival) bool {
		a.Service = service.Draw(d)
		return true
	}}
}

// WithClass gives every arrival this class, in place of its own.
func WithClass(source Source, class Name) Source {
	return &filtered{source, func(a *Arrival) bool {
		a.Class = class
		return true
	}}
}

// filtered changes each arrival, or ends the source by returning false.
type filtered struct {
	source Source
	keep   func(a *Arrival) bool
}

func (f *filtered) Next(a *Arrival) bool { return f.source.Next(a) && f.keep(a) }
func (f *filtered) Err() error           { return Err(f.source) }

// Scale offers k times as many requests: each arrival k times on average, a
// fraction by chance, its copies spread evenly up to the next arrival, so that
// the ups and downs of a trace stay and new bursts are not made. A copy has
// its original's class, tenant, session and service time. k is from 0.000001 to
// 1,000,000; by 1 nothing changes.
func Scale(source Source, k float64, seed uint64, stream string) (Source, error) {
	if err := checkFactor("scale", k); err != nil {
		return nil, err
	}
	s := &scaled{source: source, whole: int64(k), dice: dice.New(seed, stream+"/scale")}
	s.rest = k - float64(s.whole)
	s.more = source.Next(&s.next)
	return s, nil
}

type scaled struct {
	source Source
	whole  int64
	rest   float64
	dice   *dice.Dice

	current, next Arrival
	more          bool  // next is valid
	copies, made  int64 // of current
	n             int64
}

func (s *scaled) Next(a *Arrival) bool {
	for s.made == s.copies {
		if !s.more {
			return false
		}
		s.current, s.made, s.copies = s.next, 0, s.whole
		if s.dice.Bool(s.rest) {
			s.copies++
		}
		s.more = s.source.Next(&s.next)
	}
	*a = s.current
	if s.more && s.made > 0 {
		gap := s.next.At - s.current.At
		a.At += gap/time.Duration(s.copies)*time.Duration(s.made) + gap%time.Duration(s.copies)*time.Duration(s.made)/time.Duration(s.copies)
	}
	a.N = s.n
	s.n++
	s.made++
	return true
}

func (s *scaled) Err() error { return Err(s.source) }

func checkFactor(what string, k float64) error {
	if !(k >= 1e-6 && k <= 1e6) {
		return fmt.Errorf("%s %v: must be from 0.000001 to 1,000,000", what, k)
	}
	return nil
}
