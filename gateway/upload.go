package gateway

import (
	"errors"
	"io"
	"net/http"
	"sync"
)

// errDetached is what the transport reads once the caller is done with.
var errDetached = errors.New("the caller was answered before its body was read")

// upload is the caller's body while it is sent on. The transport reads it on a
// goroutine of its own, which may outlive the handler; the caller's connection
// must not be touched by then. After detach has returned, it is not.
type upload struct {
	in      *http.Request // whose body is read
	out     *http.Request // whose trailers are filled in
	src     io.Reader
	mu      sync.Mutex
	quiet   sync.Cond // signalled when a read has ended
	reading bool
	closed  bool  // no more reads
	whole   bool  // the body was read to its end
	err     error // why it could not be read
	read    int64
}

func newUpload(in, out *http.Request) *upload {
	u := &upload{in: in, out: out, src: out.Body}
	u.quiet.L = &u.mu
	return u
}

// Read implements io.Reader for the transport.
func (u *upload) Read(p []byte) (int, error) {
	u.mu.Lock()
	if u.closed {
		u.mu.Unlock()
		return 0, errDetached
	}
	u.reading = true
	u.mu.Unlock()

	n, err := u.src.Read(p)

	u.mu.Lock()
	defer u.mu.Unlock()
	u.reading = false
	if u.closed {
		u.quiet.Broadcast()
		return 0, errDetached
	}
	u.read += int64(n)
	switch {
	case err == io.EOF:
		u.whole = true
		for name := range u.out.Trailer { // those that were announced
			u.out.Trailer[name] = u.in.Trailer[name]
		}
	case err != nil:
		u.err = err
	}
	return n, err
}

// Close implements io.Closer for the transport. The body stays the handler's,
// and net/http's to close.
func (u *upload) Close() error { return nil }

// detach ends all reading and reports whether the body had been read to its
// end. interrupt must make a read that is under way return.
func (u *upload) detach(interrupt func()) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.closed = true
	if u.reading && !u.whole {
		u.mu.Unlock()
		interrupt()
		u.mu.Lock()
		for u.reading {
			u.quiet.Wait()
		}
	}
	return u.all()
}

// complete reports whether the body has been read to its end.
func (u *upload) complete() bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.all()
}

func (u *upload) all() bool {
	return u.whole || u.in.ContentLength > 0 && u.read == u.in.ContentLength
}

// failed returns why the caller's body could not be read, or nil.
func (u *upload) failed() error {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.err
}
