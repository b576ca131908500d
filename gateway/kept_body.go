package gateway

import (
	"bytes"
	"io"
	"net/http"

	"github.com/spillway-dev/spillway/gateway/wire"
)

// keptMost is the largest body that is kept for another upstream: what the client
// library keeps for another attempt.
const keptMost = 64 << 10

// kept is a request's body that is kept as it is read, so that another upstream can be
// given it too. It may be asked for again when nobody reads it any more.
type kept struct {
	src   io.ReadCloser
	read  bytes.Buffer
	lost  bool // more was read than is kept
	ended bool // all of it was read
	began bool
}

// keepBody keeps the body of a request that may go to another upstream as well. One
// that is in memory, or that is not there, needs nothing; nor does one that is known to
// be too large, which can be sent once.
func keepBody(r *http.Request) *kept {
	if _, held := wire.HeldBody(r); held || r.Body == nil {
		return nil
	}
	k := &kept{src: r.Body, lost: r.ContentLength > keptMost}
	r.Body = k
	return k
}

// Read implements io.Reader.
func (k *kept) Read(p []byte) (int, error) {
	n, err := k.src.Read(p)
	k.began = k.began || n > 0
	if k.lost = k.lost || k.read.Len()+n > keptMost; k.lost {
		k.read = bytes.Buffer{}
	} else {
		k.read.Write(p[:n])
	}
	switch {
	case err == io.EOF:
		k.ended = true
	case err != nil: // and nobody reads it any further
		k.began, k.lost = true, true
	}
	return n, err
}

// Close implements io.Closer.
func (k *kept) Close() error { return k.src.Close() }

// again returns the request with its whole body once more, or nil if that cannot be
// had: if some of it was read, and not all.
func (k *kept) again(r *http.Request) *http.Request {
	switch {
	case k == nil || !k.began && !k.ended:
		return r
	case k.lost || !k.ended && int64(k.read.Len()) != r.ContentLength:
		return nil
	}
	r = r.WithContext(r.Context()) // a call that goes on unseen has the one before
	r.Body = io.NopCloser(bytes.NewReader(k.read.Bytes()))
	return r
}
