package grpcgate

import (
	"context"
	"runtime/debug"
	"sync"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/grpclog"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"github.com/spillway-dev/spillway/gate"
	"github.com/spillway-dev/spillway/gate/internal/handling"
	"github.com/spillway-dev/spillway/gate/internal/told"
	"github.com/spillway-dev/spillway/policy/boundary"
	"github.com/spillway-dev/spillway/policy/reason"
	"github.com/spillway-dev/spillway/policy/unit"
)

// door is a gate with the rules by which requests are told apart.
type door struct {
	gate *gate.Gate
	classifier
	bells sync.Pool // of *bell; a door's own, for channels may not leave a synctest bubble
}

func newDoor(g *gate.Gate, opts []Option) *door {
	d := &door{gate: g, classifier: classifier{exempt: Health}}
	for _, o := range opts {
		o(&d.classifier)
	}
	d.bells.New = newBell
	return d
}

// bell rings when a running request's deadline passes. One that was not needed,
// because the request was refused, is used again, so that a refusal costs none.
type bell struct {
	overdue chan gate.Refusal
	ring    func(gate.Refusal)
}

func newBell() any {
	b := &bell{overdue: make(chan gate.Refusal, 1)}
	b.ring = func(refused gate.Refusal) { b.overdue <- refused }
	return b
}

// call is one admitted request on its way through a handler.
type call struct {
	door   *door
	method string
	permit gate.Permit
	run    *handling.Run
	caller context.Context
	ctx    context.Context // the handler's
	bell   *bell
	meter  *meter
	err    error // the handler's
}

// enter asks the gate. The request is admitted if the refusal's reason is
// reason.None.
func (d *door) enter(r Request, m *meter) (*call, gate.Refusal) {
	ask := d.request(d.gate, r)
	b := d.bells.Get().(*bell)
	ask.OnOverdue = b.ring
	permit, refused := d.gate.Enter(r.Context, ask)
	if refused.Reason != reason.None {
		d.bells.Put(b)
		return nil, refused
	}
	c := &call{door: d, method: r.Method, permit: permit, caller: r.Context, bell: b, meter: m}
	c.run, c.ctx = handling.New(r.Context, permit)
	m.watch(c.run)
	return c, gate.Refusal{}
}

// serve runs the handler. It returns no refusal and the handler's error, or the
// refusal that the caller is told in its place while the handler goes on.
func (c *call) serve(work func() error) (gate.Refusal, error) {
	c.run.Go(func() { c.err = work() }, nil, c.settle)
	e, refused := c.run.Wait(c.bell.overdue)
	if refused.Reason != reason.None {
		return refused, nil
	}
	e.Resume()
	return refused, c.err
}

// settle finishes the permit of a handler that has ended. A panic that comes too
// late for the server's goroutine does here what it would have done there.
func (c *call) settle(e handling.Ending, inTime bool) {
	why := outcome(c.err)
	switch {
	case e.Broken:
		why = reason.Failed
	case c.err != nil && c.caller.Err() == context.Canceled:
		why = reason.CallerGone // which its handler may notice first
	}
	o := boundary.Outcome{Reason: why}
	if c.door.costUnit > 0 && c.meter.bytes() > 0 {
		o.Cost = unit.Cost(c.door.units(c.meter.bytes()))
	}
	c.permit.FinishAt(0, o)
	switch {
	case !inTime:
		e.Resume()
	case e.Value != nil:
		// The stack is lost to whoever recovers the panic on the other goroutine.
		grpclog.Errorf("grpcgate: panic in the handler of %s: %v\n%s", c.method, e.Value, debug.Stack())
	}
}

// outcome returns what the account says of a handler's error. An error that says
// something of the request is an answer like any other.
func outcome(err error) reason.Reason {
	if err == nil {
		return reason.Served
	}
	switch code(err) {
	case codes.DeadlineExceeded:
		return reason.Timeout
	case codes.Unknown, codes.Internal, codes.Unavailable, codes.DataLoss:
		return reason.Failed
	}
	return reason.Served
}

// code returns the code that the server will make of a handler's error.
func code(err error) codes.Code {
	if st, ok := status.FromError(err); ok {
		return st.Code()
	}
	return status.FromContextError(err).Code()
}

// labels returns the metadata of an error of the handler's own. It goes into the
// trailer: with a header beside it no client would retry.
func labels(err error) metadata.MD {
	return metadata.MD{MetadataRung: rungPrimary, MetadataReason: reasons[outcome(err)]}
}

var rungPrimary = []string{told.RungPrimary}
