package gateway

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"sync"
	"time"

	"github.com/spillway-dev/spillway/config"
	"github.com/spillway-dev/spillway/policy/reason"
	"github.com/spillway-dev/spillway/policy/shed"
	"github.com/spillway-dev/spillway/policy/unit"
)

// readiness is what /readyz goes by while the gateway does not drain. It is
// judged when it is asked for, so that nobody pays for it whose balancer does not
// ask.
type readiness struct {
	mu    sync.Mutex
	began time.Time // of its clock
	place float64   // in the turns of all copies, 0 to 1; drawn at the start
	shed.Ready
}

func newReadiness() *readiness { return &readiness{began: time.Now(), place: rand.Float64()} }

// look brings it up to now, given what a configuration says and how much was
// offered and shed since the start.
func (r *readiness) look(cfg config.Ready, offered, shedded int64) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.Config = shed.Config{For: cfg.For.D(), Out: cfg.Out.D()}
	if !cfg.Shedding.Ignore {
		r.Share = cfg.Shedding.Share.Fraction()
	}
	r.Phase = time.Duration(r.place * float64(2*r.Out))
	return r.Look(unit.Instant(time.Since(r.began)), offered, shedded)
}

// ready reports whether the gateway is, by its configuration's policy.
func (g *Gateway) ready() bool {
	cfg := g.config().Ready
	var offered, shedded int64
	if !cfg.Shedding.Ignore {
		for _, r := range g.current.Load().resources {
			for _, s := range r.gate.States() {
				offered += s.Tally.Offered
				for why, n := range s.Tally.Answered {
					if shed.ForLoad(reason.Reason(why)) {
						shedded += n
					}
				}
			}
		}
	}
	is := g.readiness.look(cfg, offered, shedded)
	g.seen.Unready.Store(!is)
	return is
}

// readyz answers whoever spreads traffic: send some here, or do not.
func (g *Gateway) readyz(w http.ResponseWriter, _ *http.Request) {
	switch {
	case g.seen.Draining.Load():
		http.Error(w, "draining", http.StatusServiceUnavailable)
	case !g.ready():
		http.Error(w, "shedding: more is offered here than can be served", http.StatusServiceUnavailable)
	default:
		fmt.Fprintln(w, "ok")
	}
}
