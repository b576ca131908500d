package httpgate_test

import (
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"github.com/spillway-dev/spillway/gate/httpgate"
	"github.com/spillway-dev/spillway/policy/call"
)

// net/http sends what is idempotent again, by itself and uncounted, when a connection that
// it reused breaks: behind a service that crashes on a request, once for each idle
// connection. Here what is sent is what the policy sends.
func TestNetHTTPSendsNothingAgain(t *testing.T) {
	for _, k := range []struct {
		name    string
		method  string
		header  []string
		retries int
	}{
		{"GET", "GET", nil, 0}, {"HEAD", "HEAD", nil, 0}, {"GET with retries", "GET", nil, 2},
		{"POST under a key", "POST", []string{"Idempotency-Key", "k"}, 0},
		{"POST under the other key", "POST", []string{"X-Idempotency-Key", "k"}, 0},
	} {
		t.Run(k.name, func(t *testing.T) {
			both(t, func(t *testing.T, start func(http.HandlerFunc, call.Policy, ...httpgate.ClientOption) *upstream) {
				var crashes, keys atomic.Int64
				gathered, release := make(chan struct{}), make(chan struct{})
				u := start(func(w http.ResponseWriter, r *http.Request) {
					if r.URL.Path != "/crash" {
						gathered <- struct{}{}
						<-release
						return
					}
					if len(r.Header["Idempotency-Key"])+len(r.Header["X-Idempotency-Key"]) > 0 {
						keys.Add(1)
					}
					crashes.Add(1)
					panic(http.ErrAbortHandler)
				}, retries(k.retries))
				const idle = 5 // connections to be reused
				ready := make(chan answer)
				for range idle {
					go func() { ready <- do(u.client, request(t, "GET", u.URL, nil)) }()
				}
				for range idle {
					<-gathered
				}
				close(release)
				for range idle {
					<-ready
				}
				if a := do(u.client, request(t, k.method, u.URL+"/crash", nil, k.header...)); a.err == nil {
					t.Errorf("answered with %d", a.status)
				}
				if n := crashes.Load(); n != int64(1+k.retries) || k.header != nil && keys.Load() != n {
					t.Errorf("sent %d times, %d with its key; want %d", n, keys.Load(), 1+k.retries)
				}
				if n := u.transport.Resent(); n != 0 {
					t.Errorf("%d are said to have been sent again", n)
				}
			})
		})
	}
}

// A connection that its service closed while it was idle is no failure of the call: what
// may be sent again is, once, and it is counted.
func TestAStaleConnectionIsReplaced(t *testing.T) {
	n := 0
	piped(t, func(w http.ResponseWriter, r *http.Request) {
		n++
		if r.ContentLength != 0 || len(r.TransferEncoding) != 0 {
			t.Errorf("a GET came with %d bytes, %v", r.ContentLength, r.TransferEncoding)
		}
		if n == 2 { // as if it had been closed just before
			panic(http.ErrAbortHandler)
		}
	}, func(t *testing.T, base *http.Transport, dialed func() int) {
		tr := httpgate.NewTransport(base, dependency(t, call.Policy{}))
		client := &http.Client{Transport: tr}
		do(client, request(t, "GET", "http://dep/", nil))
		time.Sleep(600 * ms)
		if a := do(client, request(t, "GET", "http://dep/", nil)); a.status != 200 || a.err != nil {
			t.Errorf("%+v", a)
		}
		if n != 3 || dialed() != 2 || tr.Resent() != 1 {
			t.Errorf("%d requests, %d connections, %d resent", n, dialed(), tr.Resent())
		}
	})
}
