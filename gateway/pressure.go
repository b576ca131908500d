package gateway

import (
	"context"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/spillway-dev/spillway/config"
	"github.com/spillway-dev/spillway/observe/pressure"
)

// pressing tells every gate once a second how short the process is of memory and
// the like, for their limits to give way. What is not known says nothing, and the
// log says so once.
type pressing struct {
	signals atomic.Pointer[[]pressure.Signal] // of the latest look; nil: none yet
	stop    context.CancelFunc
	ended   sync.WaitGroup

	// Of the goroutine that looks.
	looks int
	gives bool
	said  bool // what is not known
}

// pressEvery is how often it is looked.
const pressEvery = time.Second

// reading is one look at what the process uses; a pressure.Reader's Read.
type reading func(now time.Time) pressure.Reading

// startPressing begins to look.
func (g *Gateway) startPressing(read reading) {
	ctx, stop := context.WithCancel(context.Background())
	g.pressing.stop = stop
	g.pressing.ended.Go(func() {
		tick := time.NewTicker(pressEvery)
		defer tick.Stop()
		for {
			select {
			case now := <-tick.C:
				g.press(now, read)
			case <-ctx.Done():
				return
			}
		}
	})
}

func (p *pressing) close() {
	p.stop()
	p.ended.Wait()
}

// press looks once, and tells the gates.
func (g *Gateway) press(now time.Time, read reading) {
	p, most := &g.pressing, allowed(g.config().Pressure)
	var all []pressure.Signal
	if most != (pressure.Limits{}) {
		all = most.Signals(read(now))
	}
	p.signals.Store(&all)
	worst := pressure.Most(all)
	p.say(g.log.Logger, all, worst)
	if len(all) == 0 {
		return // all off: what was told before is forgotten by itself
	}
	level := -1.0
	if worst.Known {
		level = worst.Level
	}
	for _, r := range g.current.Load().resources {
		r.gate.Press(level)
	}
}

// allowed is what the configuration allows; what is off is 0.
func allowed(p config.Pressure) pressure.Limits {
	return pressure.Limits{
		CPU: p.CPU.Share.Fraction(), Memory: p.Memory.Share.Fraction(),
		CPUStall: p.CPUStall.Share.Fraction(), MemoryStall: p.MemoryStall.Share.Fraction(),
		Scheduler: p.Scheduler.For.D(),
	}
}

// say logs when limits begin to give way and when that is over, and once, from the
// second look on, at which all is known that ever will be, what is not.
func (p *pressing) say(log *slog.Logger, all []pressure.Signal, worst pressure.Signal) {
	gives := worst.Known && worst.Level > 1
	switch {
	case gives && !p.gives:
		log.Warn("limits give way: the gateway is short of what pressure allows", "signal", worst.Name, "level", short(worst.Level))
	case p.gives && !gives:
		log.Info("limits come back: nothing exceeds what pressure allows any more")
	}
	p.gives = gives
	if len(all) == 0 {
		p.looks = 0
		return
	}
	if p.looks++; p.looks == 1 || p.said {
		return
	}
	p.said = true
	var unknown []string
	for _, s := range all {
		if !s.Known && s.Name != "scheduler" { // which is known whenever anything ran
			unknown = append(unknown, s.Name)
		}
	}
	if len(unknown) > 0 {
		log.Info("pressure cannot be read here and holds nobody back: no control group of version 2 with such a limit, or no account in the kernel", "signals", strings.Join(unknown, ","))
	}
}

// pressure is what a scrape sees.
func (g *Gateway) pressure() []pressure.Signal {
	if all := g.pressing.signals.Load(); all != nil {
		return *all
	}
	return nil
}
