package latency

import (
	"slices"
	"time"

	"github.com/spillway-dev/spillway/workload"
	"github.com/spillway-dev/spillway/workload/trace"
)

// SampleMost bounds a sample: one megabyte a class.
const SampleMost = 1 << 17

// Sample is what the calls of one class took. The zero value is an empty one.
type Sample struct {
	Class string // empty: whatever matches first, or nothing says
	Count int64  // calls it stands for
	times []time.Duration
	every int64 // one in so many is kept; 0 is 1
}

// Take adds a call. A time that is not positive is none.
func (s *Sample) Take(took time.Duration) {
	if took <= 0 {
		return
	}
	s.every = max(s.every, 1)
	if s.Count%s.every == 0 {
		if len(s.times) == SampleMost {
			for i := range SampleMost / 2 {
				s.times[i] = s.times[2*i]
			}
			s.times, s.every = s.times[:SampleMost/2], 2*s.every
		}
		if s.Count%s.every == 0 {
			s.times = append(s.times, took)
		}
	}
	s.Count++
}

// Sorted returns the times that were kept, the shortest first.
func (s *Sample) Sorted() []time.Duration { return slices.Sorted(slices.Values(s.times)) }

// classesMost bounds the classes of a trace; what is of later ones is left out.
const classesMost = 10_000

// FromTrace reads a trace to its end. The samples are in the order in which their
// classes first came.
func FromTrace(r *trace.Reader) ([]Sample, error) {
	var all []Sample
	at := make(map[workload.Name]int)
	var a workload.Arrival
	for r.Next(&a) {
		i, known := at[a.Class]
		if !known {
			if len(all) >= classesMost {
				continue
			}
			i = len(all)
			at[a.Class], all = i, append(all, Sample{Class: r.Names().Classes.String(a.Class)})
		}
		all[i].Take(a.Service)
	}
	return all, r.Err()
}
