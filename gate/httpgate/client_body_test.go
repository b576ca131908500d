package httpgate_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/spillway-dev/spillway/gate/httpgate"
	"github.com/spillway-dev/spillway/policy/call"
	"github.com/spillway-dev/spillway/test/leak"
)

// limit is what the tests keep of a body.
const limit = 4096

// plain hides what a reader is, so that net/http finds no GetBody.
type plain struct{ io.Reader }

// failsafe-go#73, linkerd2#4430, #6130: the second attempt had an empty body; or was never
// made; or what has no Content-Length was excluded, and a length that lies got around the
// limit. Here the second attempt sends what the first did, or is not made.
func TestTheSecondAttemptSendsWhatTheFirstDid(t *testing.T) {
	both(t, func(t *testing.T, start func(http.HandlerFunc, call.Policy, ...httpgate.ClientOption) *upstream) {
		var mu sync.Mutex
		got := map[string][]string{}
		u := start(func(w http.ResponseWriter, r *http.Request) {
			b, err := io.ReadAll(r.Body)
			mu.Lock()
			defer mu.Unlock()
			name := r.URL.Path
			got[name] = append(got[name], string(b))
			if len(got[name]) == 1 || err != nil {
				w.WriteHeader(502)
			}
		}, retries(2), httpgate.ReplayLimit(limit))
		for _, size := range []int{0, 1, limit - 1, limit, limit + 1, 20 * limit} {
			for _, k := range []struct {
				name   string
				length int64
				rewind bool
			}{
				{"chunked", -1, false}, {"said", int64(size), false}, {"rewound", int64(size), true},
				{"said-shorter", int64(size) - 1, false}, {"said-longer", int64(size) + 1, false},
			} {
				if k.length < -1 || k.name == "said-shorter" && size < 2 {
					continue
				}
				name, text := fmt.Sprintf("/%s/%d", k.name, size), strings.Repeat("x", size)
				var body io.Reader = plain{strings.NewReader(text)}
				if k.rewind {
					body = strings.NewReader(text)
				}
				req := request(t, "PUT", u.URL+name, body)
				req.ContentLength = k.length
				a := do(u.client, req)
				mu.Lock()
				seen := got[name]
				mu.Unlock()
				if strings.HasPrefix(k.name, "said-") {
					for _, s := range seen {
						if len(s) > size || strings.Trim(s, "x") != "" {
							t.Errorf("%s: %d bytes arrived", name, len(s))
						}
					}
					// See TestALengthThatLiesIsNoticedWhenItHasBeenSent.
					answered := k.name == "said-shorter" && !slices.ContainsFunc(seen, func(s string) bool { return s != text[1:] })
					if a.status == 200 && !answered {
						t.Errorf("%s: a length that lies was answered with %d", name, a.status)
					}
					continue
				}
				want, status := 2, 200
				if size > limit && !k.rewind {
					want, status = 1, 502
				}
				if len(seen) != want || a.status != status || a.err != nil {
					t.Errorf("%s: sent %d times, want %d; %d, %v", name, len(seen), want, a.status, a.err)
				}
				for i, s := range seen {
					if s != text {
						t.Errorf("%s: attempt %d sent %d bytes", name, i+1, len(s))
					}
				}
			}
		}
	})
}

// A hedge sends what the first has sent so far, and with it what is still to come; neither
// waits for the other.
func TestAHedgeSendsABodyThatIsStillComing(t *testing.T) {
	for name, size := range map[string]int{"within what is kept": limit, "beyond": 3 * limit} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var mu sync.Mutex
				var whole []string
				client := &http.Client{Transport: httpgate.NewTransport(base(func(r *http.Request) (*http.Response, error) {
					var b bytes.Buffer
					if _, err := io.Copy(&b, r.Body); err != nil {
						return nil, err
					}
					mu.Lock()
					whole = append(whole, b.String())
					mu.Unlock()
					time.Sleep(10 * ms)
					return say(200)
				}), dependency(t, hedged(20*ms)), httpgate.ReplayLimit(limit))}
				from, to := io.Pipe()
				text := strings.Repeat("0123456789abcdef", size/16)
				go func() {
					for i := 0; i < size; i += size / 8 {
						time.Sleep(5 * ms)
						io.WriteString(to, text[i:i+size/8])
					}
					to.Close()
				}()
				a := do(client, request(t, "PUT", "http://dep/", from))
				synctest.Wait()
				mu.Lock()
				defer mu.Unlock()
				if a.status != 200 || a.err != nil || len(whole) == 0 {
					t.Errorf("%+v, %d arrived whole", a, len(whole))
				}
				for _, s := range whole {
					if s != text {
						t.Errorf("%d bytes arrived that were not the body", len(s))
					}
				}
				if size <= limit && len(whole) != 2 {
					t.Errorf("%d arrived whole, want 2", len(whole))
				}
			})
		})
	}
}

// counted counts what is read of it and whether it was closed.
type counted struct {
	left   int
	closed atomic.Int64
}

func (c *counted) Read(p []byte) (int, error) {
	if c.left == 0 {
		return 0, io.EOF
	}
	n := min(len(p), c.left)
	c.left -= n
	return n, nil
}

func (c *counted) Close() error { c.closed.Add(1); return nil }

// Many huge bodies in flight cost no more memory than their limit, and nothing once they
// have outgrown it; where nothing is sent twice nothing is kept at all.
func TestBodiesTakeLittleMemory(t *testing.T) {
	const streams, sent = 1000, 1 << 20
	for _, k := range []struct {
		name   string
		policy call.Policy
		read   int
		each   int
	}{
		{"outgrown", retries(2), sent, 8 << 10},
		{"within", retries(2), 32 << 10, 80 << 10},
		{"sent once", call.Policy{}, 32 << 10, 8 << 10},
	} {
		t.Run(k.name, func(t *testing.T) {
			arrived, release := make(chan struct{}), make(chan struct{})
			client := &http.Client{Transport: httpgate.NewTransport(base(func(r *http.Request) (*http.Response, error) {
				io.CopyBuffer(struct{ io.Writer }{io.Discard}, io.LimitReader(r.Body, int64(k.read)), make([]byte, 4096))
				arrived <- struct{}{}
				<-release
				return say(503)
			}), dependency(t, k.policy), httpgate.ReplayLimit(64<<10))}
			bodies := make([]*counted, streams)
			var all sync.WaitGroup
			used := leak.Heap()
			for i := range bodies {
				bodies[i] = &counted{left: 1 << 30}
				all.Go(func() { do(client, request(t, "PUT", "http://dep/", bodies[i])) })
			}
			for range bodies {
				<-arrived
			}
			if more := int(leak.Heap()-used) / streams; more > k.each {
				t.Errorf("%d bytes for each, want at most %d", more, k.each)
			}
			go func() {
				for range arrived { // further attempts
				}
			}()
			close(release)
			all.Wait()
			close(arrived)
			for i, b := range bodies {
				if b.closed.Load() == 0 {
					t.Fatalf("body %d was not closed", i)
				}
			}
		})
	}
}

// Over HTTP/1.1 net/http's transport sends as many bytes as were said, and only then looks
// whether there are more. A service that has what it was promised may have answered by
// then, and the answer counts: the transport's doing, alone as below ours, and no harm, for
// what was sent is what was said, the same in each attempt. To look before the last byte is
// sent would mend it, and hang wherever a body ends only once it is answered.
func TestALengthThatLiesIsNoticedWhenItHasBeenSent(t *testing.T) {
	const said = 3 * limit // more than waits in the transport's buffer
	for _, ours := range []bool{false, true} {
		var got atomic.Value
		answered := make(chan struct{})
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			b, err := io.ReadAll(r.Body)
			got.Store(fmt.Sprint(len(b), err))
		}))
		defer s.Close()
		base := &http.Transport{}
		defer base.CloseIdleConnections()
		to := http.RoundTripper(base)
		if ours {
			to = httpgate.NewTransport(base, dependency(t, retries(2)))
		}
		client := &http.Client{Transport: roundTripper(func(req *http.Request) (*http.Response, error) {
			defer close(answered)
			return to.RoundTrip(req)
		})}
		more := &lateMore{Reader: strings.NewReader(strings.Repeat("x", said)), until: answered}
		req := request(t, "PUT", s.URL, more)
		req.ContentLength = said
		a := do(client, req)
		if a.status != 200 || got.Load() != fmt.Sprint(said, nil) {
			t.Errorf("ours %v: %d, %v; the service got %v", ours, a.status, a.err, got.Load())
		}
	}
}

// lateMore is a body that is longer than was said, which shows only once it is answered.
type lateMore struct {
	io.Reader
	until chan struct{}
	more  bool
}

func (b *lateMore) Read(p []byte) (int, error) {
	n, err := b.Reader.Read(p)
	if n > 0 || b.more {
		return n, err
	}
	<-b.until
	b.more = true
	p[0] = 'y'
	return 1, nil
}

// A body is closed also if its request is never sent.
func TestABodyThatIsNeverSentIsClosed(t *testing.T) {
	for name, opts := range map[string][]httpgate.ClientOption{"kept": nil, "not kept": {httpgate.ReplayLimit(0)}} {
		t.Run(name, func(t *testing.T) {
			c := dependency(t, call.Policy{Retries: 1, Breaker: call.Breaker{Consecutive: 1}})
			client := &http.Client{Transport: httpgate.NewTransport(base(func(*http.Request) (*http.Response, error) { return say(500) }), c, opts...)}
			do(client, request(t, "POST", "http://dep/", nil))
			b := &counted{left: 10}
			if a := do(client, request(t, "POST", "http://dep/", b)); a.err == nil || b.closed.Load() == 0 || b.left != 10 {
				t.Errorf("%+v; closed %d times, %d left", a, b.closed.Load(), b.left)
			}
		})
	}
}
