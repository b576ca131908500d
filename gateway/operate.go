package gateway

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/spillway-dev/spillway/config"
	"github.com/spillway-dev/spillway/observe"
	"github.com/spillway-dev/spillway/policy/boundary"
)

// Operation is a class switched by hand.
type Operation struct {
	Class string `json:"class"`
	// Mode is off (as configured), degrade or refuse.
	Mode string    `json:"mode"`
	ForS float64   `json:"for_s"` // how long still
	End  time.Time `json:"end,omitzero"`
	By   string    `json:"by"`
	Why  string    `json:"why,omitempty"`
}

// String is one line.
func (o Operation) String() string {
	if o.Mode == boundary.AsConfigured.String() {
		return fmt.Sprintf("%s: as configured, by %s", o.Class, o.By)
	}
	s := fmt.Sprintf("%s: %s until %s, by %s", o.Class, o.Mode, o.End.Format(time.TimeOnly), o.By)
	if o.Why != "" {
		s += ": " + o.Why
	}
	return s
}

// whyMax bounds what an operator says about it, in bytes.
const whyMax = 200

// Operate switches a class by hand for a time: what is offered meanwhile is
// answered with reason operator, what waits and runs goes on, and then the class
// is as configured again, by itself. It is logged with who asked and why, shown in
// /debug/pools and in spillway_operator_remaining_seconds, and survives reloads.
func (g *Gateway) Operate(name string, mode boundary.OperatorMode, d time.Duration, by, why string) (Operation, error) {
	g.reloading.Lock()
	defer g.reloading.Unlock()
	n := g.current.Load()
	i := slices.IndexFunc(n.classes, func(c *class) bool { return c.name == name })
	if g.succeeded.Load() {
		return Operation{}, errSucceeded
	}
	if i < 0 {
		return Operation{}, fmt.Errorf("there is no class %q; there are %s", observe.Printable(name, keyMax), n.classNames())
	}
	if mode != boundary.AsConfigured && (d < time.Second || d > boundary.OperatorMax) {
		return Operation{}, fmt.Errorf("for %v: give a time from 1s to %v, after which it ends by itself", d, boundary.OperatorMax)
	}
	return g.operate(n.classes[i], mode, d, by, why), nil
}

// errSucceeded is told to an operator who reached a process on its way out.
var errSucceeded = errors.New("another process has taken over from this one: ask again, to reach it")

func (g *Gateway) operate(c *class, mode boundary.OperatorMode, d time.Duration, by, why string) Operation {
	o := Operation{Class: c.name, Mode: mode.String(), By: by, Why: observe.Printable(why, whyMax)}
	if mode != boundary.AsConfigured {
		o.ForS, o.End = d.Seconds(), time.Now().Add(d)
	}
	c.gate.Operate(c.index, mode, d)
	if g.operated == nil {
		g.operated = make(map[string]Operation)
	}
	g.operated[c.name] = o
	g.log.Warn("operated", "class", c.name, "mode", o.Mode, "for", d, "by", by, "why", o.Why)
	return o
}

// OperateMarked switches every class whose configuration says operator.signal, for
// as long as it says; or back, if all of them are switched already. It returns
// what was done.
func (g *Gateway) OperateMarked(by string) []Operation {
	g.reloading.Lock()
	defer g.reloading.Unlock()
	var marked []*class
	back := true
	for _, c := range g.current.Load().classes {
		if c.cfg.Operator.Signal != config.OperatorOff {
			marked = append(marked, c)
			back = back && c.gate.States()[c.index].Operator != boundary.AsConfigured
		}
	}
	if len(marked) == 0 {
		g.log.Warn("no class is marked for the operator's signal", "by", by, "fix", "write operator: { signal: refuse } in a class")
	}
	var done []Operation
	for _, c := range marked {
		mode, d := operatorModes[c.cfg.Operator.Signal], c.cfg.Operator.For.D()
		if back {
			mode, d = boundary.AsConfigured, 0
		}
		done = append(done, g.operate(c, mode, d, by, ""))
	}
	return done
}

var operatorModes = map[config.OperatorMode]boundary.OperatorMode{
	config.OperatorOff: boundary.AsConfigured, config.OperatorDegrade: boundary.Degrade, config.OperatorRefuse: boundary.RefuseAll,
}

// withOperation adds to what is shown of a class what was done to it by hand.
func (g *Gateway) withOperation(p poolState, s *boundary.ClassState) poolState {
	p.Removed = s.Removed
	if s.Operator != boundary.AsConfigured {
		g.reloading.Lock()
		o := g.operated[s.Name]
		g.reloading.Unlock()
		o.Class, o.Mode, o.ForS = s.Name, s.Operator.String(), s.OperatorLeft.Seconds()
		p.Operator = &o
	}
	if o := g.overrides.get(s.Name); o != nil {
		p.Override = &o.Override
	}
	return p
}

// note is what stands beside a class's name, as text.
func (p *poolState) note() string {
	switch {
	case p.Removed:
		return " (removed by a reload: it drains)"
	case p.Override != nil && p.Operator == nil:
		return " (override: " + keysOf(p.Override.Keys) + " until " + p.Override.End.Format(time.TimeOnly) + ", by " + p.Override.By + "; why: " + p.Override.Why + ")"
	case p.Operator != nil:
		left := time.Duration(p.Operator.ForS * float64(time.Second)).Round(time.Second)
		return fmt.Sprintf(" (operator: %s for %v still, by %s; why: %s)", p.Operator.Mode, left, p.Operator.By, cmp.Or(p.Operator.Why, "not said"))
	}
	return ""
}

// keepOperation hands an operation over to the gate that its class has moved to.
func keepOperation(from, to *class) {
	s := from.gate.States()[from.index]
	if s.Operator != boundary.AsConfigured {
		to.gate.Operate(to.index, s.Operator, s.OperatorLeft)
	}
}

func (n *generation) classNames() string {
	names := make([]string, len(n.classes))
	for i, c := range n.classes {
		names[i] = c.name
	}
	return strings.Join(names, ", ")
}

// serveOperate answers POST /operate?class=NAME&mode=off|degrade|refuse&for=10m&why=TEXT.
func (g *Gateway) serveOperate(w http.ResponseWriter, r *http.Request, by string) {
	q := r.URL.Query()
	mode, err := boundary.ParseOperatorMode(cmp.Or(q.Get("mode"), "none"))
	if err != nil {
		http.Error(w, "mode "+err.Error(), http.StatusBadRequest)
		return
	}
	var d time.Duration
	if text := q.Get("for"); text != "" || mode != boundary.AsConfigured {
		if d, err = time.ParseDuration(text); err != nil {
			http.Error(w, "for: write a duration such as 10m", http.StatusBadRequest)
			return
		}
	}
	done, err := g.Operate(q.Get("class"), mode, d, by, q.Get("why"))
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	reply(w, r, http.StatusOK, done, func(w io.Writer) { fmt.Fprintln(w, done) })
}
