package httpgate

import (
	"errors"
	"io"
	"maps"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/spillway-dev/spillway/gate/caller"
)

// clientBody gives each attempt of a request a body of its own.
type clientBody struct {
	once   *onceBody                     // it is read at most once; or, with again, by the first attempt
	again  func() (io.ReadCloser, error) // the request's GetBody
	replay *replay                       // it is kept as it is read
	behind http.Header                   // the request's trailers
	names  []string                      // of those

	mu      sync.Mutex
	sent    []*attemptBody
	settled bool
}

// take takes over the body of a request, and reports whether it can be sent only once.
// Where nothing is sent twice, nothing is kept.
func (b *clientBody) take(req *http.Request, repeats bool, keep int64) (fixed bool) {
	if req.Body == nil || req.Body == http.NoBody {
		if req.Body != nil {
			req.Body.Close()
		}
		return !repeats
	}
	b.behind, b.names = req.Trailer, slices.Collect(maps.Keys(req.Trailer))
	if len(b.names) == 0 { // else they belong to one reading of the body
		b.again = req.GetBody
	}
	if repeats && b.again == nil && keep > 0 && req.ContentLength <= keep {
		b.replay = newReplay(req.Body, int(keep))
		return false
	}
	b.once = &onceBody{ReadCloser: req.Body}
	return !repeats || b.again == nil
}

// open returns the body for an attempt; nil: there is none.
func (b *clientBody) open(a caller.Attempt) (*attemptBody, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	var source io.ReadCloser
	switch {
	case b.once == nil && b.replay == nil:
		return nil, nil
	case b.settled:
		return nil, errBodyGone // a hedge that begins when it has lost; what GetBody reads is the caller's again
	case b.replay != nil:
		source = b.replay.open(a.Fix)
	case b.once.taken.CompareAndSwap(false, true):
		source = b.once
	case b.again == nil:
		return nil, errBodyGone
	default:
		var err error
		if source, err = b.again(); err != nil {
			return nil, err
		}
	}
	own := &attemptBody{ReadCloser: source, of: b}
	b.sent = append(b.sent, own)
	return own, nil
}

// settle says that the call is over with the attempt that has this body; nil: with none. No
// other will be made, and of those that are still under way none reads on.
func (b *clientBody) settle(winner *attemptBody) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.settled = true
	for _, a := range b.sent {
		if a != winner {
			a.gone.Store(true)
		}
	}
	switch {
	case b.replay != nil:
		b.replay.settle()
	case b.once != nil && b.once.taken.CompareAndSwap(false, true):
		b.once.Close() // it was never sent
	}
}

// failed reports whether the body could not be read to its end.
func (b *clientBody) failed() bool {
	switch {
	case b.replay != nil:
		return b.replay.failed()
	case b.once != nil:
		return b.once.broken.Load()
	}
	return false
}

// attemptBody is the body of one attempt. Once the call is over with another, nothing is
// read through it any more: a caller that goes by the answer alone may have put to other
// use what its body is read from, and a hedge that lost would send that.
type attemptBody struct {
	io.ReadCloser
	of      *clientBody
	gone    atomic.Bool
	trailer http.Header // nil: nothing follows
}

// follow gives an attempt trailers of its own, which are there once its body ends: the
// request's are written while its body is read, which may be when another attempt begins.
func (b *attemptBody) follow(out *http.Request) {
	if len(b.of.names) == 0 {
		return
	}
	b.trailer = make(http.Header, len(b.of.names))
	for _, name := range b.of.names {
		b.trailer[name] = nil
	}
	out.Trailer = b.trailer
}

// Read implements io.Reader.
func (b *attemptBody) Read(p []byte) (int, error) {
	if b.gone.Load() {
		return 0, errBodyGone
	}
	n, err := b.ReadCloser.Read(p)
	if err == io.EOF && b.trailer != nil {
		b.end()
	}
	return n, err
}

// end fills in the trailers, to which nothing is written any more.
func (b *attemptBody) end() {
	b.of.mu.Lock()
	defer b.of.mu.Unlock()
	if b.gone.Load() {
		return // they are the caller's again
	}
	for name := range b.trailer {
		b.trailer[name] = slices.Clone(b.of.behind[name])
	}
}

// onceBody is a request's own body.
type onceBody struct {
	io.ReadCloser
	taken, closed, broken atomic.Bool
}

// Read implements io.Reader.
func (b *onceBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if err != nil && err != io.EOF && !b.closed.Load() {
		b.broken.Store(true)
	}
	return n, err
}

// Close implements io.Closer.
func (b *onceBody) Close() error {
	b.closed.Store(true)
	return b.ReadCloser.Close()
}

// replay is a body that several attempts read, each from its beginning, also at the same
// time. What has been read is kept up to a limit; once there is more, it streams on to
// whoever reads the furthest, and nobody can begin anew. The source is closed when
// nobody will read it any more.
type replay struct {
	source io.ReadCloser
	limit  int

	mu      sync.Mutex
	changed sync.Cond // a read has ended, or a reader has gone
	kept    []byte
	over    bool  // more has come than is kept
	busy    bool  // somebody reads the source
	err     error // how the source has ended
	readers int
	settled bool // no more readers will come
}

func newReplay(source io.ReadCloser, limit int) *replay {
	r := &replay{source: source, limit: limit}
	r.changed.L = &r.mu
	return r
}

// open returns a reader from the beginning. fix is called if the body proves too long to
// be read by another.
func (r *replay) open(fix func()) io.ReadCloser {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.readers++
	return &replayReader{replay: r, fix: fix}
}

func (r *replay) settle() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.settled = true
	r.maybeClose()
}

// maybeClose closes the source if nobody will read it any more. The caller holds mu.
func (r *replay) maybeClose() {
	if r.settled && r.readers == 0 && r.source != nil {
		r.source.Close() // frees a read that is still in it, too
		r.source, r.kept = nil, nil
	}
}

func (r *replay) failed() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.err != nil && r.err != io.EOF
}

// replayReader is one attempt's body.
type replayReader struct {
	replay *replay
	fix    func()

	// Guarded by the replay's mu.
	at     int
	ahead  bool // it alone reads on beyond what is kept
	closed bool
}

var errOutgrown = errors.New("httpgate: the request's body has outgrown what is kept of it")

// Read implements io.Reader.
func (b *replayReader) Read(p []byte) (int, error) {
	r := b.replay
	r.mu.Lock()
	defer r.mu.Unlock()
	for {
		switch {
		case b.closed:
			return 0, http.ErrBodyReadAfterClose
		case r.over && !b.ahead:
			return 0, errOutgrown
		case b.at < len(r.kept):
			n := copy(p, r.kept[b.at:])
			b.at += n
			return n, nil
		case r.err != nil:
			return 0, r.err
		case !r.busy:
			return r.read(b, p)
		}
		r.changed.Wait()
	}
}

// read reads the source for a reader that is at the end of what is kept. The caller holds
// mu, which is free meanwhile.
func (r *replay) read(b *replayReader, p []byte) (int, error) {
	source := r.source
	r.busy = true
	r.mu.Unlock()
	n, err := source.Read(p)
	r.mu.Lock()
	r.busy = false
	r.changed.Broadcast()
	r.err = err
	switch {
	case n == 0 || r.over:
	case len(r.kept)+n <= r.limit || b.closed:
		// A reader that has gone meanwhile may have read what another needs.
		r.kept = append(r.kept, p[:n]...)
		b.at += n
	default:
		r.over, r.kept, b.ahead = true, nil, true
		b.fix()
	}
	return n, err
}

// Close implements io.Closer.
func (b *replayReader) Close() error {
	r := b.replay
	r.mu.Lock()
	defer r.mu.Unlock()
	if b.closed {
		return nil
	}
	b.closed = true
	r.readers--
	r.changed.Broadcast()
	r.maybeClose()
	return nil
}
