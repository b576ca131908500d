package httpgate_test

import (
	"context"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/spillway-dev/spillway/gate/caller"
	"github.com/spillway-dev/spillway/gate/httpgate"
	"github.com/spillway-dev/spillway/policy/call"
	"github.com/spillway-dev/spillway/test/pipes"
)

const ms = time.Millisecond

// unlimited is a budget that forbids nothing.
var unlimited = call.Budget{Off: true}

// retries is a policy that tries again n times, at once.
func retries(n int) call.Policy { return call.Policy{Retries: n, Budget: unlimited} }

// hedged is a policy under which a second attempt goes beside one that takes longer.
func hedged(after time.Duration) call.Policy {
	return call.Policy{Hedge: call.Hedge{After: after, Budget: unlimited, SlowShare: 100}}
}

func dependency(t testing.TB, p call.Policy) *caller.Caller {
	t.Helper()
	c, err := caller.New(p)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// upstream is a real service, and the client of one policy that calls it.
type upstream struct {
	*httptest.Server
	base      *http.Transport
	transport *httpgate.Transport
	client    *http.Client
	conns     *atomic.Int64 // that are open
}

// idle closes connections that are idle, and reports whether none is left.
func (u *upstream) idle() bool {
	u.client.CloseIdleConnections()
	return u.conns.Load() == 0
}

// dialing counts connections that are open.
func dialing(open *atomic.Int64) func(context.Context, string, string) (net.Conn, error) {
	return func(ctx context.Context, network, addr string) (net.Conn, error) {
		conn, err := new(net.Dialer).DialContext(ctx, network, addr)
		if err != nil {
			return nil, err
		}
		open.Add(1)
		return &countedConn{Conn: conn, open: open}, nil
	}
}

type countedConn struct {
	net.Conn
	open *atomic.Int64
	once sync.Once
}

func (c *countedConn) Close() error {
	c.once.Do(func() { c.open.Add(-1) })
	return c.Conn.Close()
}

// both runs f with a service over HTTP/1.1 and one over HTTP/2.
func both(t *testing.T, f func(t *testing.T, start func(http.HandlerFunc, call.Policy, ...httpgate.ClientOption) *upstream)) {
	for _, proto := range []string{"HTTP/1.1", "HTTP/2.0"} {
		t.Run(proto, func(t *testing.T) {
			f(t, func(h http.HandlerFunc, p call.Policy, opts ...httpgate.ClientOption) *upstream {
				s := httptest.NewUnstartedServer(h)
				s.Config.ErrorLog = log.New(io.Discard, "", 0)
				if proto == "HTTP/2.0" {
					s.EnableHTTP2 = true
					s.StartTLS()
				} else {
					s.Start()
				}
				base := s.Client().Transport.(*http.Transport)
				base.MaxIdleConnsPerHost = 100
				conns := new(atomic.Int64)
				base.DialContext = dialing(conns)
				u := &upstream{Server: s, base: base, conns: conns, transport: httpgate.NewTransport(base, dependency(t, p), opts...)}
				u.client = &http.Client{Transport: u.transport}
				t.Cleanup(func() {
					u.client.CloseIdleConnections()
					s.Close()
				})
				return u
			})
		})
	}
}

// answer is an answer that has been read.
type answer struct {
	status int
	header http.Header
	body   string
	err    error
}

func do(client *http.Client, req *http.Request) (a answer) {
	resp, err := client.Do(req)
	if err != nil {
		return answer{err: err}
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	return answer{resp.StatusCode, resp.Header, string(b), err}
}

func request(t testing.TB, method, url string, body io.Reader, header ...string) *http.Request {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, url, body)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	return req
}

// base is a service that is a function, for virtual time.
type base func(*http.Request) (*http.Response, error)

func (f base) RoundTrip(req *http.Request) (*http.Response, error) {
	if req.Body != nil {
		defer req.Body.Close()
	}
	return f(req)
}

// say is an answer of a base.
func say(status int, header ...string) (*http.Response, error) {
	h := http.Header{}
	for i := 0; i < len(header); i += 2 {
		h.Set(header[i], header[i+1])
	}
	return &http.Response{StatusCode: status, Header: h, Body: io.NopCloser(strings.NewReader("said"))}, nil
}

// piped runs f in virtual time with a real server and net/http's transport, over pipes in
// memory. dialed counts connections.
func piped(t *testing.T, h http.HandlerFunc, f func(t *testing.T, base *http.Transport, dialed func() int)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		l := pipes.Listen()
		s := &http.Server{Handler: h, IdleTimeout: time.Second}
		go s.Serve(l)
		base := &http.Transport{DialContext: l.Dial}
		f(t, base, l.Dialed)
		base.CloseIdleConnections()
		s.Close()
		synctest.Wait()
	})
}

// work takes so long, and stops when nobody waits for it any more.
func work(ctx context.Context, d time.Duration) {
	select {
	case <-time.After(d):
	case <-ctx.Done():
	}
}

// crowd has n goroutines do something so many times each, one after the other.
func crowd(n, times int, f func()) {
	var all sync.WaitGroup
	for range n {
		all.Go(func() {
			for range times {
				f()
			}
		})
	}
	all.Wait()
}
