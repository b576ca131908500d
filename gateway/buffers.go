package gateway

import (
	"context"
	"io"
	"sync"
)

// bufferSize is what is read from an upstream at a time: httputil's own size.
const bufferSize = 32 << 10

// buffers lends the proxy its copying buffers. They travel as pointers to
// arrays: to keep a slice in a pool costs an allocation each time.
var buffers = &bufferPool{sync.Pool{New: func() any { return new([bufferSize]byte) }}}

type bufferPool struct{ pool sync.Pool }

// Get implements httputil.BufferPool.
func (p *bufferPool) Get() []byte { return p.pool.Get().(*[bufferSize]byte)[:] }

// Put implements httputil.BufferPool.
func (p *bufferPool) Put(b []byte) { p.pool.Put((*[bufferSize]byte)(b)) }

// discardMost is how much of an answer that nobody wants is read, so that its
// connection can be used again.
const discardMost = 256 << 10

// discard reads what is left of an answer, up to a bound, and ends it. It reports
// whether that was all.
func discard(body io.ReadCloser, cancel context.CancelCauseFunc) bool {
	defer body.Close()
	n, err := io.CopyN(io.Discard, body, discardMost)
	if n == discardMost {
		cancel(errAnswered)
	}
	return err == io.EOF
}
