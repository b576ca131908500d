package gateway

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/spillway-dev/spillway/gateway/edge"
	"github.com/spillway-dev/spillway/observe"
	"github.com/spillway-dev/spillway/policy/boundary"
)

// bequest is what a process hands on to the one that takes over from it: what
// operators decided, what was measured, what clients have used up. Counts are not
// part of it, nor what waits and runs: both end with the process whose they are.
// All times are durations from the moment at which it was written.
type bequest struct {
	// Version counts the meanings that the rest has had. Who reads another one
	// takes nothing: half of a meaning is worse than a fresh start.
	Version   int                        `json:"version"`
	Salt      salt                       `json:"salt"`      // of clients' keys; zero where nobody is asked
	Resources map[string]boundary.Memory `json:"resources"` // by upstream
	Operated  []Operation                `json:"operated"`
	Overrides []bequeathed               `json:"overrides"`
	Trail     []Entry                    `json:"trail"`
	Gaps      map[string]bequeathedGap   `json:"gaps"` // by class
}

// bequeathed is an override with what is left of its time.
type bequeathed struct {
	Override
	LeftS float64 `json:"left_s"`
}

// bequestVersion is the version that this program writes, and the only one that it
// reads.
const bequestVersion = 1

// clientsBequeathed bounds how many clients are handed on, over all upstreams: those
// that have used up the most. At 70 bytes each they are under 5 MiB.
const clientsBequeathed = 1 << 16

// bequeath returns what there is to hand on. reloading is held.
func (g *Gateway) bequeath() []byte {
	now := g.current.Load()
	b := bequest{Version: bequestVersion, Resources: make(map[string]boundary.Memory, len(now.resources))}
	if now.trust != nil {
		b.Salt = now.trust.salt
	}
	clients := clientsBequeathed
	for _, r := range now.resources {
		memory := r.gate.Export(clients)
		clients -= len(memory.Clients)
		b.Resources[r.name] = memory
	}
	for _, c := range now.classes {
		if s := c.gate.States()[c.index]; s.Operator != boundary.AsConfigured {
			o := g.operated[c.name]
			o.Class, o.Mode, o.ForS = c.name, s.Operator.String(), s.OperatorLeft.Seconds()
			b.Operated = append(b.Operated, o)
		}
	}
	b.Gaps = bequeathGaps(now)
	for _, o := range g.overrides.all() {
		b.Overrides = append(b.Overrides, bequeathed{o.Override, time.Until(o.End).Seconds()})
	}
	g.overrides.mu.Lock()
	b.Trail = append(b.Trail, g.overrides.trail...)
	g.overrides.mu.Unlock()
	text, err := json.Marshal(&b)
	if err != nil || len(text) > edge.StateMost {
		g.log.Warn("what this process knows cannot be handed on", "bytes", len(text), "why", err)
		return nil
	}
	return text
}

// inherit takes in what the process before this one hands on, if there is one. It is
// called before anything is served. What cannot be taken is said, and is no reason
// not to serve.
func (g *Gateway) inherit(sockets *edge.Sockets) {
	text, err := sockets.State()
	if text == nil && err == nil {
		return
	}
	if err == nil {
		err = g.takeIn(text)
	}
	if err != nil {
		g.log.Warn("what the process before this one knew is not taken over: measurements, client limits, switches and overrides begin anew", "why", err)
	}
}

func (g *Gateway) takeIn(text []byte) error {
	var version struct {
		Version int `json:"version"`
	}
	if err := json.Unmarshal(text, &version); err != nil {
		return fmt.Errorf("it is not what was expected: %w", err)
	}
	if version.Version != bequestVersion {
		return fmt.Errorf("it is of version %d, this program reads version %d", version.Version, bequestVersion)
	}
	var b bequest
	if err := json.Unmarshal(text, &b); err != nil {
		return fmt.Errorf("it is not what was expected: %w", err)
	}
	g.reloading.Lock()
	defer g.reloading.Unlock()
	if t := g.current.Load().trust; t != nil && b.Salt != (salt{}) {
		t.salt = b.Salt
	}
	g.takeOverrides(b.Overrides, b.Trail)
	now := g.current.Load()
	clients := 0
	for _, r := range now.resources {
		if memory, ok := b.Resources[r.name]; ok {
			r.gate.Import(memory)
			clients += len(memory.Clients)
		}
	}
	g.takeOperations(now, b.Operated)
	takeGaps(now, b.Gaps)
	g.log.Info("took over what the process before this one knew", "upstreams", len(b.Resources), "clients", clients,
		"operated", len(b.Operated), "overrides", len(b.Overrides))
	return nil
}

// takeOperations has the classes that were switched by hand stay so, those that
// there still are. reloading is held.
func (g *Gateway) takeOperations(now *generation, all []Operation) {
	for _, o := range all {
		mode, err := boundary.ParseOperatorMode(o.Mode)
		c := now.class(o.Class)
		left := seconds(o.ForS, boundary.OperatorMax)
		switch {
		case err != nil || mode == boundary.AsConfigured || left == 0:
		case c == nil:
			g.log.Warn("a class that was switched by hand is no longer there", "class", observe.Printable(o.Class, keyMax), "mode", o.Mode)
		default:
			g.operate(c, mode, left, observe.Printable(o.By, operatorMax), o.Why)
		}
	}
}

// takeOverrides puts overrides in force for what is left of their time, as far as
// the file has a place for them. reloading is held.
func (g *Gateway) takeOverrides(all []bequeathed, trail []Entry) {
	filed := g.filed()
	g.overrides.mu.Lock()
	g.overrides.trail = append(g.overrides.trail, trail[max(0, len(trail)-trailMost):]...)
	g.overrides.mu.Unlock()
	for _, was := range all {
		left := seconds(was.LeftS, OverrideMost)
		o := &liveOverride{Override: was.Override}
		o.By, o.Why = observe.Printable(o.By, operatorMax), observe.Printable(o.Why, whyMax)
		if left == 0 {
			g.audit("expired", &o.Override, o.By, o.Why)
			continue
		}
		o.End = time.Now().Add(left)
		if _, err := filed.With(o.Class, o.Keys); err != nil {
			g.audit("dropped", &o.Override, "a new process", err.Error())
			continue
		}
		g.overrides.put(o.Class, o)
		o.timer = time.AfterFunc(left, func() { g.expire(o) })
	}
	if len(g.overrides.all()) == 0 {
		return
	}
	// Those that do not go together are dropped, as in a reload.
	if _, err := g.replace(filed, "overrides of the process before", true); err != nil {
		for _, o := range g.overrides.all() {
			o.timer.Stop()
			g.overrides.put(o.Class, nil)
			g.audit("dropped", &o.Override, "a new process", err.Error())
		}
	}
}

// seconds is a duration from 0 to most.
func seconds(s float64, most time.Duration) time.Duration {
	if !(s > 0) {
		return 0
	}
	return time.Duration(min(s, most.Seconds()) * float64(time.Second))
}
