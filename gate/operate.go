package gate

import (
	"context"
	"fmt"
	"time"

	"github.com/spillway-dev/spillway/policy/boundary"
	"github.com/spillway-dev/spillway/policy/tally"
)

// Class returns the index of the class of that name, or -1.
func (g *Gate) Class(name string) int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.machine.ClassIndex(name)
}

// Drain refuses whatever is offered from now on, with reason.Draining, and
// returns when nothing waits or runs any more, or with the context's error when
// that ends first. What has been abandoned is not waited for. It may be called
// more than once.
func (g *Gate) Drain(ctx context.Context) error {
	now := g.Now()
	g.mu.Lock()
	if g.emptied == nil {
		g.emptied, g.watched = make(chan struct{}), true
	}
	emptied := g.emptied
	g.machine.Drain(now, &g.out)
	g.settle(now, boundary.Drained, 0)
	select {
	case <-emptied:
		return nil
	case <-ctx.Done():
	}
	select {
	case <-emptied: // both at once
		return nil
	default:
		return ctx.Err()
	}
}

// Close stops the gate's timer for good: from now on deadlines pass unnoticed
// until the next request, so close a gate only when nobody uses it any more. One
// that is empty needs no Close: its timer stops by itself.
func (g *Gate) Close() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.armed = closed
	if g.timer != nil {
		g.timer.Stop()
	}
}

// Reconfigure applies another configuration, whole or not at all. What waits
// and runs, every count and everything measured stays.
func (g *Gate) Reconfigure(cfg Config) error {
	now := g.Now()
	g.mu.Lock()
	err := g.machine.Reconfigure(now, cfg, &g.out)
	g.rename()
	g.settle(now, boundary.Reconfigured, 0)
	return err
}

// Operate switches a class by hand for a time, after which it is as configured
// again by itself: see boundary.Machine.Operate. d is cut to
// boundary.OperatorMax; 0 or less, or AsConfigured, switch it back. It panics for
// a class that does not exist.
func (g *Gate) Operate(class int, mode boundary.OperatorMode, d time.Duration) {
	g.mustHave(class)
	now := g.Now()
	o := boundary.Operation{Mode: mode, Until: now.Add(min(d, boundary.OperatorMax))}
	g.mu.Lock()
	g.machine.Operate(now, class, o, &g.out)
	g.settleAs(boundary.Event{At: now, Kind: boundary.Operated, Class: class, Operation: o})
}

// Press tells how near the process is to what it may have of memory, processor and the
// like, about once a second; 1 is there, below 0 is not known: see
// boundary.Machine.Press. Package observe/pressure reads it.
func (g *Gate) Press(level float64) {
	now := g.Now()
	g.mu.Lock()
	g.machine.Press(now, level, &g.out)
	g.settleAs(boundary.Event{At: now, Kind: boundary.Pressed, Pressure: level})
}

// Export returns what the gate has measured and what clients have used up, those
// that have used up the most, at most that many: see boundary.Machine.Export.
func (g *Gate) Export(clients int) boundary.Memory {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.machine.Export(g.Now(), clients)
}

// Import has the gate begin where another one was: see boundary.Machine.Import.
func (g *Gate) Import(mem boundary.Memory) {
	now := g.Now()
	g.mu.Lock()
	g.machine.Import(now, mem, &g.out)
	g.settle(now, boundary.Reconfigured, 0)
}

// mustHave panics, where no lock is held, for a class that does not exist.
func (g *Gate) mustHave(class int) {
	if uint(class) >= uint(len(*g.names.Load())) {
		panic(fmt.Sprintf("gate: there is no class %d", class))
	}
}

// Accepts returns why Reconfigure would not take a configuration, or nil. It
// changes nothing.
func (g *Gate) Accepts(cfg Config) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.machine.Accepts(cfg)
}

// States returns the state of every class, by index.
func (g *Gate) States() []boundary.ClassState {
	now := g.Now()
	g.mu.Lock()
	g.machine.Advance(now, &g.out)
	states := make([]boundary.ClassState, g.machine.Classes())
	for i := range states {
		states[i] = g.machine.Class(i)
	}
	g.settle(now, boundary.Advanced, 0)
	return states
}

// State returns the state of one class.
func (g *Gate) State(class int) boundary.ClassState {
	now := g.Now()
	g.mu.Lock()
	g.machine.Advance(now, &g.out)
	state := g.machine.Class(class)
	g.settle(now, boundary.Advanced, 0)
	return state
}

// Tenants returns the remembered tenants of a class, by name, and the account
// of those that were forgotten.
func (g *Gate) Tenants(class int) ([]boundary.TenantState, tally.Tally) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.machine.Tenants(class)
}

// Items returns up to most requests of a class that wait or hold a slot, in the
// order in which they were offered. It takes time in proportion to what waits
// and runs in all classes.
func (g *Gate) Items(class, most int) []boundary.ItemState {
	now := g.Now()
	g.mu.Lock()
	g.machine.Advance(now, &g.out)
	items := g.machine.Items(class, most)
	g.settle(now, boundary.Advanced, 0)
	return items
}

// Bugs returns how many broken invariants were met: permits finished twice, and
// faults of spillway itself. Alarm on anything but 0.
func (g *Gate) Bugs() int64 {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.machine.Bugs()
}

// Check returns everything that is wrong with the gate's accounts and state,
// or nil. It takes time in proportion to what waits and runs.
func (g *Gate) Check() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.machine.Check()
}
