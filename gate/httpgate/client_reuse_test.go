package httpgate_test

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/spillway-dev/spillway/gate/caller"
	"github.com/spillway-dev/spillway/gate/httpgate"
	"github.com/spillway-dev/spillway/policy/call"
	"github.com/spillway-dev/spillway/test/need"
)

// reuser uses one request again and again, and writes to all of it as early as the
// contract of http.RoundTripper lets it: once the answer's body is closed, or there is
// none; to what the body is read from once each body is closed.
type reuser struct {
	t    *testing.T
	to   http.RoundTripper
	url  *url.URL
	text []byte
	own  atomic.Bool  // the request is his to write to
	open atomic.Int64 // bodies
	late atomic.Int64 // bodies asked for when it was too late
}

func (u *reuser) call(n int) {
	req := &http.Request{
		Method: "PUT", URL: u.url, Host: u.url.Host, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: http.Header{"X-Say": {"a", "b"}, "X-Also": {"c"}},
	}
	u.own.Store(false)
	if n%4 > 0 {
		u.fill(req, n)
	}
	resp, err := u.to.RoundTrip(req.WithContext(u.t.Context()))
	if err != nil {
		u.t.Error(err)
	} else {
		if n%3 > 0 {
			io.Copy(io.Discard, resp.Body)
		}
		resp.Body.Close()
	}
	u.own.Store(true)
	u.mutate(req)
	eventually(u.t, "bodies to be closed, and what they are read from to be his", func() bool { return u.open.Load() == 0 })
	for i := range u.text {
		u.text[i]++
	}
}

// fill gives the request a body, in one of the ways there are: one that can be read once,
// one that can be had again, and one that something follows.
func (u *reuser) fill(req *http.Request, n int) {
	body := func() io.ReadCloser {
		u.open.Add(1)
		return &ownedBody{from: bytes.NewReader(u.text), open: &u.open}
	}
	req.ContentLength = int64(len(u.text))
	switch n % 4 {
	case 1:
		req.Body = body()
	case 2:
		req.Body = body()
		req.GetBody = func() (io.ReadCloser, error) {
			if u.own.Load() {
				u.late.Add(1)
			}
			return body(), nil
		}
	case 3:
		req.Trailer, req.ContentLength = http.Header{"Digest": {"d"}}, -1
		req.Body = body()
	}
}

// ownedBody is a body that nobody is reading any more once it is closed, which net/http
// does while it reads.
type ownedBody struct {
	open *atomic.Int64

	mu   sync.Mutex
	from *bytes.Reader // nil: it is closed
}

func (b *ownedBody) Read(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.from == nil {
		return 0, http.ErrBodyReadAfterClose
	}
	return b.from.Read(p)
}

func (b *ownedBody) Close() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.from != nil {
		b.from = nil
		b.open.Add(-1)
	}
	return nil
}

func (u *reuser) mutate(req *http.Request) {
	req.Header["X-Say"][1] = "z"
	req.Header.Set("X-Also", "z")
	req.Header.Del("X-Say")
	req.URL.Path += "x"
	req.URL.Path = "/"
	if req.Trailer != nil {
		req.Trailer["Digest"][0] = "z"
		req.Trailer.Set("Other", "z")
	}
	*req = http.Request{}
}

// A hedge may begin as the first answer is handed over, and be under way when that has
// been read: it sends nothing that the caller may write to by then.
func TestACallersRequestIsHisAgain(t *testing.T) {
	each := need.Count(t, "SPILLWAY_CALLS", 4_000) / 40
	both(t, func(t *testing.T, start func(http.HandlerFunc, call.Policy, ...httpgate.ClientOption) *upstream) {
		s := start(func(w http.ResponseWriter, r *http.Request) {
			if rand.IntN(4) > 0 || r.Trailer != nil { // else it is answered early, which is no end of a connection with trailers to come
				io.Copy(io.Discard, r.Body)
			}
			fmt.Fprint(w, "said")
		}, call.Policy{})
		var callers []*caller.Caller
		for i := range 8 {
			p := hedged(time.Duration(1 + i*i*10_000))
			p.Retries, p.Budget = 1, unlimited
			callers = append(callers, dependency(t, p))
		}
		to := httpgate.NewTransport(s.base, nil, httpgate.Dependency(func(*http.Request) *caller.Caller { return callers[rand.IntN(len(callers))] }))
		var all sync.WaitGroup
		for range 4 {
			all.Go(func() {
				at, err := url.Parse(s.URL)
				if err != nil {
					t.Error(err)
					return
				}
				u := &reuser{t: t, to: to, url: at, text: bytes.Repeat([]byte("x"), 8<<10)}
				for n := range each {
					u.call(n)
				}
				if n := u.late.Load(); n > 0 {
					t.Errorf("%d bodies were asked for when their calls were over", n)
				}
			})
		}
		all.Wait()
		var hedges int
		for _, c := range callers {
			hedges += int(c.State().Hedges)
		}
		if hedges == 0 {
			t.Error("no hedge was sent")
		}
		t.Log(hedges, "hedges")
	})
}

// Nor does one that has lost read on: a caller that goes by the answer, as most do that
// take what they send from a pool, has put it to other use.
func TestAnAttemptThatLostReadsNoFurther(t *testing.T) {
	p := hedged(ms)
	for name, rewind := range map[string]bool{"kept as it is read": false, "to be had again": true} {
		t.Run(name, func(t *testing.T) {
			hedged, over, lost := make(chan struct{}), make(chan struct{}), make(chan error)
			var attempts, reads atomic.Int64
			client := &http.Client{Transport: httpgate.NewTransport(roundTripper(func(out *http.Request) (*http.Response, error) {
				defer out.Body.Close()
				if attempts.Add(1) == 1 {
					<-hedged
					io.Copy(io.Discard, out.Body)
					return say(http.StatusOK)
				}
				close(hedged)
				<-over
				n, err := out.Body.Read(make([]byte, 1))
				if n > 0 || err == nil {
					t.Errorf("%d bytes were read", n)
				}
				lost <- err
				return nil, err
			}), dependency(t, p))}
			body := func() io.ReadCloser {
				return io.NopCloser(readerFunc(func(p []byte) (int, error) { reads.Add(1); return 0, io.EOF }))
			}
			req := request(t, "PUT", "http://dep/", body())
			if rewind {
				req.GetBody = func() (io.ReadCloser, error) { return body(), nil }
			}
			if a := do(client, req); a.err != nil {
				t.Fatal(a.err)
			}
			before := reads.Load()
			close(over)
			if err := <-lost; err == io.EOF || reads.Load() != before {
				t.Errorf("%d reads before the answer and %d after: %v", before, reads.Load(), err)
			}
		})
	}
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }
