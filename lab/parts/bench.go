package parts

import (
	"cmp"
	"context"
	"os/exec"
	"runtime"

	"github.com/spillway-dev/spillway/report"
)

// Bench is where rounds are played, one at a time.
type Bench struct {
	// Watches is how often at most the machine is watched before a round, two seconds
	// each time, until it is idle; 0: five times.
	Watches int

	start func(part string) *exec.Cmd
	// idle is what was watched after the latest round; nil: nothing yet.
	idle *report.Number
}

// NewBench returns a bench whose parts are started by running what start makes: a
// process that calls [Serve] for the part with that name, with its standard input and
// its standard output.
func NewBench(start func(part string) *exec.Cmd) *Bench { return &Bench{start: start} }

// Settle watches the machine until it has been idle for two seconds, or has not been for
// too long, and says which.
func (b *Bench) Settle(ctx context.Context) Machine {
	m := Machine{Cores: runtime.NumCPU(), CPU: map[string]report.Number{}, Stolen: report.None()}
	m.Idle = b.settle(ctx)
	m.Quiet, m.Load = isQuiet(m.Idle), loadOf()
	return m
}

func (b *Bench) settle(ctx context.Context) report.Number {
	var idle report.Number
	if b.idle != nil {
		idle = *b.idle
		b.idle = nil
		if isQuiet(idle) {
			return idle
		}
	}
	for range cmp.Or(b.Watches, watches) {
		if idle = watch(ctx); isQuiet(idle) || ctx.Err() != nil {
			break
		}
	}
	return idle
}
