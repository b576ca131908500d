package gateway

import (
	"net/http"
	"time"

	"github.com/spillway-dev/spillway/config"
	"github.com/spillway-dev/spillway/config/assemble"
	"github.com/spillway-dev/spillway/expr"
	"github.com/spillway-dev/spillway/gate"
	"github.com/spillway-dev/spillway/observe"
)

// class is one class of the configuration, ready for requests. It is not
// changed after it was made.
type class struct {
	cfg     config.Class
	name    string
	pattern config.Pattern
	// condition is what must hold besides; nil: nothing.
	condition *expr.Program
	upstream  *upstream
	gate      *gate.Gate
	index     int // in the gate

	tenant, importance, cost config.Key
	levels                   config.Words

	timeout      time.Duration // of the call; 0: what is left of the deadline
	passDeadline bool
	cancel       bool          // of the call, when its caller has been answered or is gone
	holdAtMost   time.Duration // by abandoned work
	dropStatus   int
	keys         bool // requests with an idempotency key are done once
	persists     bool // what it has no room for becomes a job

	ladder *ladder    // cheaper answers; nil: there are none
	asked  bool       // by a rung of another class, and by nothing else
	rules  gate.Class // of its boundary, as the gate has them
	gap    assemble.Gap
	weighs bool // somebody wants to know it
	// learning is how that is learned; nil: it is not.
	learning *learning
	calls    *calls // nil: one attempt, and its limit

	ungoverned  func() *class // see letThrough
	alone       func() *class // without its ladder, for a job
	honoursKeys bool          // its upstream does

	seen     *observe.Class
	recorded int32 // its number in the recording
}

// newClass makes a class of its configuration. before is the one of that name
// in the generation before, or nil: what has state that must survive a reload is
// taken over from it. What only the gate knows of it is filled in when it is
// adopted.
func newClass(c config.Class, u *upstream, g *gate.Gate, before *class) *class {
	k := &class{
		cfg:          c,
		name:         c.Name,
		pattern:      c.Match.Pattern(),
		upstream:     u,
		gate:         g,
		tenant:       c.Tenant.Key,
		importance:   c.Importance.Key,
		cost:         c.Tenant.Cost,
		levels:       c.Importance.Levels,
		timeout:      c.Call.Timeout.D(),
		passDeadline: c.Call.PassDeadline.On(),
		cancel:       c.Abandoned.Cancel.On(),
		holdAtMost:   c.Abandoned.HoldAtMost.D(),
		dropStatus:   c.WhenFull.Drop,
		keys:         c.Keys.On(),
		persists:     c.WhenFull.Policy == config.FullPersist,
	}
	return k.prepareUngoverned()
}

// classify returns the first class that takes the request and that its caller may
// use, or nil. Where it fits classes of which its caller may use none, it is the
// first of them, and the caller is denied.
func (g *Gateway) classify(r *http.Request, who *caller) (first *class) {
	header := func(name string) string { return headerValue(r, name) }
	for _, c := range g.current.Load().classes {
		if !c.pattern.Matches(r.Method, r.Host, r.URL.Path, header) || !c.fits(r) {
			continue
		}
		if who.mayUse(c) {
			return c
		}
		if first == nil {
			first = c
		}
	}
	if first != nil {
		who.deny()
	}
	return first
}

// ask is what the class knows of the request when it is offered.
func (c *class) ask(r *http.Request, timeout time.Duration) gate.Request {
	q := gate.Request{Class: c.index, Timeout: timeout, Bytes: retained(r), Session: c.session(r)}
	if !c.tenant.IsZero() {
		q.Tenant = extract(c.tenant, r)
	}
	if !c.importance.IsZero() {
		q.Importance = level(c.levels, extract(c.importance, r))
	}
	if !c.cost.IsZero() {
		q.Cost = cost(extract(c.cost, r))
	}
	return q
}

// What a waiting request keeps: its goroutine, buffers and the server's own
// records (measured: 10 to 14 KiB over HTTP/1.1), its header, and of a body
// that nobody has read yet what the receiving side has taken in all the same.
const (
	retainedBase   = 16 << 10
	retainedHeader = 64        // a header field beside its text
	retainedHTTP1  = 64 << 10  // the kernel's receive window before it is read from
	retainedHTTP2  = 256 << 10 // streamWindow, in our own memory
)

// retained estimates what the request keeps in memory while it waits, in bytes.
func retained(r *http.Request) int64 {
	n := retainedBase + len(r.URL.Path) + len(r.URL.RawQuery)
	for name, values := range r.Header {
		for _, v := range values {
			n += len(name) + len(v) + retainedHeader
		}
	}
	body, most := r.ContentLength, int64(retainedHTTP1)
	if r.ProtoMajor >= 2 {
		most = retainedHTTP2
	}
	if body < 0 || body > most {
		body = most
	}
	return int64(n) + body
}
