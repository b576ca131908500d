package gateway

import (
	"cmp"
	"context"
	"errors"
	"io"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/spillway-dev/spillway/policy/unit"
)

// flow is the body of an answer on its way to the caller. Once it flows no
// deadline ends it; only its end, the caller's leaving, the longest it may take in
// all, or idleness: no byte taken from the upstream, because it sends none or because
// the caller does not read what it is sent. While it is the caller who is waited for
// it holds nobody's slot, as long as there is room for such.
type flow struct {
	x    *exchange
	src  io.ReadCloser
	stop func() bool // no longer watches for the caller's leaving; nil: does not yet

	began      unit.Instant
	switched   bool          // the connection speaks another protocol now
	watched    atomic.Bool   // it has gone on for long enough that it is watched
	moved      atomic.Int64  // when a byte last came, in nanoseconds of the gate's time, if watched
	giving     atomic.Bool   // what came is being given to the caller, if watched
	look       time.Duration // until it is looked at again
	err        error         // why it broke off
	next, last *flow         // neighbours in flows

	mu     sync.Mutex
	idle   *time.Timer
	closed bool
}

// begin lets an answer that came in time flow.
func (x *exchange) begin(src io.ReadCloser, switched bool) {
	now := x.heard
	if now == 0 {
		now = x.class.gate.Now()
	}
	x.class.seen.First.Observe(now.Sub(x.offered))
	f := &x.flowing
	f.x, f.src, f.began, f.switched = x, src, now, switched
	x.body = f
	switch x.whole = x.hold.whole(); {
	case switched:
		f.watch()
	case !x.whole: // else nobody is waited for but the caller, by its connection
		x.gateway.flows.add(f)
	}
}

// beginAnswer is begin for an answer that net/http's transport brought.
func (x *exchange) beginAnswer(res *http.Response) {
	if x.priced != nil {
		x.priced.watch(x, res)
	}
	src := res.Body
	x.begin(src, res.StatusCode == http.StatusSwitchingProtocols)
	res.Body = x.body
	if w, ok := src.(io.Writer); ok && x.body.switched {
		res.Body = &tunnel{x.body, w}
	}
}

// watch begins to watch for idleness and for the caller's leaving.
func (f *flow) watch() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return
	}
	f.moved.Store(int64(f.x.class.gate.Now()))
	f.watched.Store(true)
	if !f.x.class.cancel || f.x.cancel == nil { // else net/http ends the call with its caller
		f.stop = context.AfterFunc(f.x.in.Context(), func() { f.x.sever(errCallerGone) })
	}
	f.look = lingerAfter
	f.idle = time.AfterFunc(f.look, f.rest)
}

// lingerAfter is how long a caller may be waited for with a piece of its answer
// before it is taken for a slow one, and lookMost how long a flow is left alone.
const (
	lingerAfter = 50 * time.Millisecond
	lookMost    = 5 * time.Second
)

// takes notes that the upstream is waited for.
func (f *flow) takes() { f.giving.Store(false) }

// touch notes that something came, which is now the caller's to take.
func (f *flow) touch() {
	f.giving.Store(true)
	f.moves()
}

func (f *flow) moves() {
	if f.watched.Load() {
		f.moved.Store(int64(f.x.class.gate.Now()))
	}
}

// Read implements io.Reader.
func (f *flow) Read(p []byte) (int, error) {
	f.takes()
	n, err := f.src.Read(p)
	if n > 0 {
		f.touch()
		f.x.copyOf(p[:n])
	}
	switch {
	case err == io.EOF:
		f.x.copied()
		f.x.ended = true
		f.x.complete()
	case err != nil:
		f.err = err
	}
	return n, err
}

// Close implements io.Closer. It may be called more than once.
func (f *flow) Close() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return nil
	}
	f.closed = true
	if !f.x.whole {
		f.x.gateway.flows.remove(f)
	}
	if f.idle != nil {
		f.idle.Stop()
	}
	if f.stop != nil {
		f.stop()
	}
	return f.src.Close()
}

// rest is called when the flow is to be looked at: whether it has been idle for as
// long as it may be, or has gone on for as long as it may, or has a slow caller.
func (f *flow) rest() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return
	}
	now := f.x.class.gate.Now()
	since := time.Duration(int64(now) - f.moved.Load())
	left := cmp.Or(f.x.class.cfg.Streams.Idle.D(), f.x.gateway.idle) - since
	if most := f.x.class.cfg.Streams.Total.D(); most > 0 {
		left = min(left, most-now.Sub(f.began))
	}
	if left <= 0 {
		f.x.cutIdle()
		return
	}
	if f.giving.Load() && since >= lingerAfter {
		f.x.permit.Linger()
	}
	f.look = min(2*f.look, lookMost)
	f.idle.Reset(min(left, f.look))
}

// tunnel is the flow of a connection that was switched to another protocol:
// bytes move both ways.
type tunnel struct {
	*flow
	w io.Writer
}

// Read implements io.Reader. The end of one direction is not the end of the
// exchange.
func (t *tunnel) Read(p []byte) (int, error) {
	t.takes()
	n, err := t.src.Read(p)
	if n > 0 {
		t.touch()
	}
	return n, err
}

// Write implements io.Writer.
func (t *tunnel) Write(p []byte) (int, error) {
	n, err := t.w.Write(p)
	if n > 0 {
		t.moves()
	}
	return n, err
}

// CloseWrite passes on that the caller will send no more.
func (t *tunnel) CloseWrite() error { return closeWrite(t.w) }

// closeWrite ends one direction. Where that cannot be told to the other side it is an
// error, which ends both: nobody would ever know that the caller has gone.
func closeWrite(w io.Writer) error {
	if w, ok := w.(interface{ CloseWrite() error }); ok {
		return w.CloseWrite()
	}
	return errors.ErrUnsupported
}
