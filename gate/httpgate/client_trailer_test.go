package httpgate_test

import (
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/spillway-dev/spillway/gate/httpgate"
)

// trailing is a body behind which trailers come, as a server's requests have them: they
// are written into the request when its body has been read.
type trailing struct {
	io.Reader
	trailer http.Header
}

// Read implements io.Reader.
func (b trailing) Read(p []byte) (int, error) {
	n, err := b.Reader.Read(p)
	if err == io.EOF {
		b.trailer["Digest"] = []string{"d1"}
	}
	return n, err
}

// Close implements io.Closer.
func (trailing) Close() error { return nil }

// A hedge looks at its trailers, as a transport does, while the first attempt reads the
// body to the end behind which they come: each attempt has its own. With one map for
// both this is a race, which ends the process when it is met.
func TestAHedgeBeginsWhileTrailersArrive(t *testing.T) {
	hedge := make(chan struct{})
	var attempts atomic.Int64
	client := &http.Client{Transport: httpgate.NewTransport(base(func(out *http.Request) (*http.Response, error) {
		if attempts.Add(1) == 1 {
			<-hedge
		} else {
			close(hedge)
			for name := range out.Trailer {
				if name != "Digest" {
					t.Errorf("trailer %q is announced", name)
				}
			}
		}
		if _, err := io.Copy(io.Discard, out.Body); err != nil {
			return nil, err
		}
		return say(http.StatusOK, "X-Digest", out.Trailer.Get("Digest"))
	}), dependency(t, hedged(ms)))}
	req := request(t, "PUT", "http://service/", nil)
	req.Trailer = http.Header{"Digest": nil}
	req.Body, req.ContentLength = trailing{strings.NewReader("abc"), req.Trailer}, -1
	res, err := client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
	if got := res.Header.Get("X-Digest"); got != "d1" || attempts.Load() != 2 {
		t.Errorf("digest %q after %d attempts", got, attempts.Load())
	}
}
