package parts

import (
	"context"
	"encoding/json"
	"time"

	"github.com/spillway-dev/spillway/report"
)

// Plan is a round as its parts are told of it.
type Plan[S any] struct {
	// Parts are their names; what asks comes after what it asks.
	Parts []string
	// Spec is what each is told.
	Spec func(part string) S
	// Warm is how long before the start the parts begin.
	Warm time.Duration
}

// Team is the parts of a round that is played.
type Team struct {
	bench   *Bench
	machine *Machine
	parts   []*process
	before  jiffies
	start   time.Time
}

// lead is how long before the warm-up everything is ready.
const lead = 50 * time.Millisecond

// Run has a round played and sees to it that no process is left: it starts the parts, calls
// f when all have begun, and ends them when f returns or ctx ends, whose error is then
// returned. What is found of the machine is noted in m.
func Run[S any](ctx context.Context, b *Bench, p Plan[S], m *Machine, f func(*Team) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	t := &Team{bench: b, machine: m}
	err := open(t, &p)
	defer t.kill()
	stop := context.AfterFunc(ctx, t.kill)
	defer stop()
	if err == nil {
		err = f(t)
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return err
}

// open starts the parts and the round, and returns when all have begun.
func open[S any](t *Team, p *Plan[S]) error {
	peer := ""
	for _, name := range p.Parts {
		part, err := launch(name, t.bench.start(name), spec[S]{p.Spec(name), peer})
		if err != nil {
			return err
		}
		t.parts = append(t.parts, part)
		s, err := part.said()
		if err != nil {
			return err
		}
		peer = s.Address
	}
	t.start = time.Now().Add(p.Warm + lead)
	for _, part := range t.parts {
		if err := part.order(order{t.start.UnixNano()}); err != nil {
			return err
		}
		if _, err := part.said(); err != nil {
			return err
		}
	}
	t.before = machineTime()
	return nil
}

func (t *Team) kill() {
	for _, p := range t.parts {
		p.kill()
	}
}

// Result waits for that of the part with that index, and notes how busy it was.
func (t *Team) Result(i int, into any) error {
	p := t.parts[i]
	if err := p.order(order{}); err != nil {
		return err
	}
	s, err := p.said()
	if err != nil {
		return err
	}
	if t.machine.CPU != nil {
		t.machine.CPU[p.name] = report.Number(s.CPU.Seconds() / max(time.Since(t.start), time.Millisecond).Seconds())
	}
	return json.Unmarshal(s.Result, into)
}

// Rest is called when the load is over: what was stolen is counted until now, and while f
// waits for what is left the machine is watched already, for the next round's sake.
func (t *Team) Rest(ctx context.Context, f func() error) error {
	after := machineTime()
	t.machine.Stolen = share(after.stolen-t.before.stolen, after.all-t.before.all)
	watched := make(chan report.Number, 1)
	go func() { watched <- watch(ctx) }()
	err := f()
	idle := <-watched
	t.bench.idle = &idle
	return err
}
