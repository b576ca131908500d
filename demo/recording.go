package demo

import (
	"fmt"

	"github.com/spillway-dev/spillway/trial"
	"github.com/spillway-dev/spillway/workload"
	"github.com/spillway-dev/spillway/workload/trace"
)

// Recording is a trace to be offered as the checkout's load.
type Recording struct {
	Path    string
	Format  string // as trace.Options has it
	Mapping trace.Mapping
	// Speed makes its time pass so many times as fast; 0 chooses a speed at
	// which its mean rate is meanShare of what the service can do, so that it
	// is its bursts that overload.
	Speed, Scale float64
}

const meanShare = 0.6

// loads returns the scene's load, or the recording's. They are opened anew for
// every run, so that each meets the same requests, and done with by the function
// beside them.
func (o Options) loads(names *workload.Names) (loads []trial.Load, done func(), err error) {
	if o.Recording == nil {
		loads, err = scene()
		return loads, func() {}, err
	}
	speed, err := o.Recording.speed(names)
	if err != nil {
		return nil, nil, err
	}
	source, err := o.Recording.open(names, o.Seed, speed)
	if err != nil {
		return nil, nil, err
	}
	return []trial.Load{{Class: "checkout", Source: source}}, func() { source.Close() }, nil
}

func (r *Recording) open(names *workload.Names, seed uint64, speed float64) (*trace.Reader, error) {
	return trace.Open(r.Path, trace.Options{
		Mapping: r.Mapping, Format: r.Format, Names: names, Seed: seed, Speed: speed, Scale: r.Scale,
	})
}

// speed returns the speed asked for, or the one at which the recording's mean
// rate fits the service.
func (r *Recording) speed(names *workload.Names) (float64, error) {
	if r.Speed > 0 {
		return r.Speed, nil
	}
	source, err := r.open(names, 1, 1)
	if err != nil {
		return 0, err
	}
	defer source.Close()
	var a workload.Arrival
	var n float64
	for source.Next(&a) {
		n++
	}
	if err := source.Err(); err != nil {
		return 0, err
	}
	span := source.Stats().Span.Seconds()
	if n < 2 || span <= 0 {
		return 0, fmt.Errorf("trace %s: %v requests within %v s cannot be offered at a rate; give --speed", r.Path, n, span)
	}
	capacity := slots / serviceTime.Seconds()
	return meanShare * capacity / (n / span), nil
}
