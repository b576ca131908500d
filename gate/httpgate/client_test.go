package httpgate_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/spillway-dev/spillway/gate/caller"
	"github.com/spillway-dev/spillway/gate/httpgate"
	"github.com/spillway-dev/spillway/policy/call"
	"github.com/spillway-dev/spillway/policy/reason"
)

// What the last attempt was answered is what the client gets, with its body: a client of
// a service that is busy wants to see its 503.
func TestTheLastAnswerIsPassedOn(t *testing.T) {
	both(t, func(t *testing.T, start func(http.HandlerFunc, call.Policy, ...httpgate.ClientOption) *upstream) {
		var n atomic.Int64
		u := start(func(w http.ResponseWriter, r *http.Request) {
			w.WriteHeader(503)
			io.WriteString(w, "busy "+strconv.FormatInt(n.Add(1), 10))
		}, retries(2))
		req := request(t, "GET", u.URL, nil)
		resp, err := u.client.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		b, err := io.ReadAll(resp.Body)
		if resp.StatusCode != 503 || string(b) != "busy 3" || err != nil || resp.Request != req {
			t.Errorf("got %d %q, %v", resp.StatusCode, b, err)
		}
	})
}

// What a status means: how often a policy of one retry sends it.
func TestWhatAStatusMeans(t *testing.T) {
	post := func(header ...string) *http.Request { return request(t, "POST", "http://dep/", nil, header...) }
	get := func() *http.Request { return request(t, "GET", "http://dep/", nil) }
	grpc := func() *http.Request {
		r := post("Content-Type", "application/grpc")
		r.ProtoMajor = 2
		return r
	}
	for _, k := range []struct {
		name   string
		req    *http.Request
		status int
		header []string
		keys   bool
		want   int
	}{
		{"an answer", get(), 200, nil, false, 1},
		{"the client's fault", get(), 404, nil, false, 1},
		{"too many", post(), 429, nil, false, 2},
		{"busy, come back", post(), 503, []string{"Retry-After-Ms", "1"}, false, 2},
		{"busy, it does not say that nothing was done", post(), 503, nil, false, 1},
		{"busy, may run twice", get(), 503, nil, false, 2},
		{"overloaded", post(), 529, nil, false, 2},
		{"busy, never again", post(), 503, []string{"X-Should-Retry", "false"}, false, 1},
		{"busy, never again, by gRPC's word", get(), 503, []string{"Grpc-Retry-Pushback-Ms", "-1"}, false, 1},
		{"a client's fault, to be tried again", get(), 409, []string{"X-Should-Retry", "true"}, false, 2},
		{"failed, never again", get(), 500, []string{"X-Should-Retry", "false"}, false, 1},
		{"failed, may not run twice", post(), 500, nil, false, 1},
		{"failed, may run twice", get(), 500, nil, false, 2},
		{"failed, under a key", post(), 500, nil, true, 2},
		{"failed, under a key of the caller's that nobody honours", post("Idempotency-Key", "k"), 500, nil, false, 1},
		{"broken, may not run twice", post(), 502, nil, false, 1},
		{"broken, may run twice", get(), 502, nil, false, 2},
		{"late, may not run twice", post(), 504, nil, false, 1},
		{"late in the queue, so it did not run", post(), 504, []string{"Spillway-Reason", "expired"}, false, 2},
		{"not implemented", get(), 501, nil, false, 1},
		{"gRPC: an answer", grpc(), 200, []string{"Grpc-Status", "0"}, false, 1},
		{"gRPC: unavailable, it does not say why", grpc(), 200, []string{"Grpc-Status", "14"}, false, 1},
		{"gRPC: unavailable, under a key", grpc(), 200, []string{"Grpc-Status", "14"}, true, 2},
		{"gRPC: busy", grpc(), 200, []string{"Grpc-Status", "14", "Grpc-Retry-Pushback-Ms", "1"}, false, 2},
		{"gRPC: busy, never again", grpc(), 200, []string{"Grpc-Status", "14", "Grpc-Retry-Pushback-Ms", "-1"}, true, 1},
		{"gRPC: its dependency failed", grpc(), 200, []string{"Grpc-Status", "14", "Grpc-Retry-Pushback-Ms", "1", "Spillway-Reason", "failed"}, false, 1},
		{"gRPC: exhausted, it does not say why", grpc(), 200, []string{"Grpc-Status", "8"}, false, 1},
		{"gRPC: its own limit", grpc(), 200, []string{"Grpc-Status", "8", "Grpc-Retry-Pushback-Ms", "1"}, false, 2},
		{"gRPC: a message too long", grpc(), 200, []string{"Grpc-Status", "8", "Grpc-Message", "grpc: received message larger than max (5 vs. 4)"}, true, 1},
		{"gRPC: late in the queue, so it did not run", grpc(), 200, []string{"Grpc-Status", "4", "Spillway-Reason", "expired"}, false, 2},
		{"gRPC: no status at all, under a key", grpc(), 200, []string{"Grpc-Status", "busy"}, true, 2},
		{"gRPC: late", grpc(), 200, []string{"Grpc-Status", "4"}, false, 1},
		{"gRPC: internal, under a key", grpc(), 200, []string{"Grpc-Status", "13"}, true, 2},
	} {
		t.Run(k.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				n := 0
				var opts []httpgate.ClientOption
				if k.keys {
					opts = append(opts, httpgate.HonoursKeys())
				}
				client := &http.Client{Transport: httpgate.NewTransport(base(func(*http.Request) (*http.Response, error) {
					n++
					return say(k.status, k.header...)
				}), dependency(t, retries(1)), opts...)}
				a := do(client, k.req.WithContext(t.Context()))
				if n != k.want || a.status != k.status || a.body != "said" || a.err != nil {
					t.Errorf("sent %d times, want %d; %+v", n, k.want, a)
				}
			})
		})
	}
}

// The first attempt may still run when the second comes under the same key: 409 with
// Retry-After says so, and the answer is there later.
func TestAKeyInProgressIsWaitedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := 0
		client := &http.Client{Transport: httpgate.NewTransport(base(func(*http.Request) (*http.Response, error) {
			switch n++; n {
			case 1:
				return nil, io.ErrUnexpectedEOF
			case 2:
				return say(409, "Retry-After", "1")
			}
			return say(200)
		}), dependency(t, retries(3)), httpgate.HonoursKeys())}
		if a := do(client, request(t, "POST", "http://dep/", nil)); a.status != 200 || n != 3 {
			t.Errorf("%+v after %d", a, n)
		}
	})
}

// A service that says when to come back is not asked before.
func TestRetryAfterIsObeyed(t *testing.T) {
	for _, k := range []struct {
		header, value string
		least         time.Duration
	}{
		{"Retry-After", "2", 2 * time.Second}, {"Retry-After-Ms", "1500", 1500 * ms},
		{"Retry-After", "Sat, 01 Jan 2000 00:00:03 GMT", 3 * time.Second},
	} {
		synctest.Test(t, func(t *testing.T) {
			start, n := time.Now(), 0
			client := &http.Client{Transport: httpgate.NewTransport(base(func(*http.Request) (*http.Response, error) {
				if n++; n == 1 {
					return say(503, k.header, k.value)
				}
				return say(200)
			}), dependency(t, retries(1)))}
			a := do(client, request(t, "GET", "http://dep/", nil))
			if took := time.Since(start); a.status != 200 || took < k.least || took > 2*k.least {
				t.Errorf("%s: %s: %+v after %v", k.header, k.value, a, took)
			}
		})
	}
	// Beyond the deadline is never: the answer is passed on at once.
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		client := &http.Client{Transport: httpgate.NewTransport(base(func(*http.Request) (*http.Response, error) {
			return say(503, "Retry-After", "5")
		}), dependency(t, retries(1)))}
		if a := do(client, request(t, "GET", "http://dep/", nil).WithContext(ctx)); a.status != 503 || time.Since(start) != 0 {
			t.Errorf("%+v after %v", a, time.Since(start))
		}
	})
}

// An attempt says which it is, under which key, and for how long somebody waits, which
// shrinks. The request itself is left as it is.
func TestAnAttemptSaysWhatItIs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := retries(1)
		p.Timeout = 300 * ms
		var seen []http.Header
		client := &http.Client{Transport: httpgate.NewTransport(base(func(r *http.Request) (*http.Response, error) {
			seen = append(seen, r.Header)
			time.Sleep(200 * ms)
			return say(502)
		}), dependency(t, p), httpgate.HonoursKeys())}
		ctx, cancel := context.WithTimeout(t.Context(), 450*ms)
		defer cancel()
		req := request(t, "POST", "http://dep/", strings.NewReader("x"), "X-Envoy-Upstream-Rq-Timeout-Ms", "9000")
		do(client, req.WithContext(ctx))
		want := []map[string]string{
			{"X-Envoy-Attempt-Count": "1", "X-Envoy-Expected-Rq-Timeout-Ms": "300", "X-Envoy-Upstream-Rq-Timeout-Ms": "300", "Grpc-Timeout": ""},
			{"X-Envoy-Attempt-Count": "2", "X-Envoy-Expected-Rq-Timeout-Ms": "250", "X-Envoy-Upstream-Rq-Timeout-Ms": "250", "Grpc-Timeout": ""},
		}
		if len(seen) != len(want) {
			t.Fatalf("sent %d times", len(seen))
		}
		for i := range want {
			for name, value := range want[i] {
				if got := seen[i].Get(name); got != value {
					t.Errorf("attempt %d: %s: %q, want %q", i+1, name, got, value)
				}
			}
		}
		if key := seen[0].Get("Idempotency-Key"); key == "" || key != seen[1].Get("Idempotency-Key") {
			t.Errorf("keys %q and %q", key, seen[1].Get("Idempotency-Key"))
		}
		if len(req.Header) != 1 || req.Header.Get("X-Envoy-Upstream-Rq-Timeout-Ms") != "9000" {
			t.Errorf("the request was changed: %v", req.Header)
		}
	})
}

// gRPC's own headers; a retry that is passed on stays one; and what is not to travel.
func TestWhatTravelsOn(t *testing.T) {
	for _, k := range []struct {
		name string
		opts []httpgate.ClientOption
		in   []string
		want map[string]string
	}{
		{"gRPC", nil, []string{"Content-Type", "application/grpc", "Grpc-Timeout", "5S", "X-Envoy-Attempt-Count", "3"},
			map[string]string{"Grpc-Timeout": "1000000u", "Grpc-Previous-Rpc-Attempts": "2", "X-Envoy-Attempt-Count": "3"}},
		{"nonsense", nil, []string{"X-Envoy-Attempt-Count", "-7"}, map[string]string{"X-Envoy-Attempt-Count": "1"}},
		{"no number", []httpgate.ClientOption{httpgate.PassNumber(false)}, nil, map[string]string{"X-Envoy-Attempt-Count": "", "X-Envoy-Expected-Rq-Timeout-Ms": "1000"}},
		{"no deadline", []httpgate.ClientOption{httpgate.PassDeadline(false)}, nil, map[string]string{"X-Envoy-Attempt-Count": "1", "X-Envoy-Expected-Rq-Timeout-Ms": ""}},
		{"no policy", []httpgate.ClientOption{httpgate.Dependency(func(*http.Request) *caller.Caller { return nil })}, nil, map[string]string{"X-Envoy-Attempt-Count": ""}},
	} {
		t.Run(k.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				client := &http.Client{Transport: httpgate.NewTransport(base(func(r *http.Request) (*http.Response, error) {
					for name, value := range k.want {
						if got := r.Header.Get(name); got != value {
							t.Errorf("%s: %q, want %q", name, got, value)
						}
					}
					return say(200)
				}), dependency(t, call.Policy{Timeout: time.Second}), k.opts...)}
				req := request(t, "POST", "http://dep/", nil, k.in...)
				req.ProtoMajor = 2
				do(client, req)
			})
		})
	}
}

// A call without any answer is an error that says why; a client's timeout is one.
func TestNoAnswerIsAnError(t *testing.T) {
	errBody := errors.New("the disk is gone")
	for _, k := range []struct {
		name     string
		base     http.RoundTripper
		req      func(t *testing.T) *http.Request
		why      error
		attempts int
	}{
		{"nobody listens", &http.Transport{}, func(t *testing.T) *http.Request { return request(t, "POST", "http://127.0.0.1:1/", nil) }, reason.Failed, 2},
		{"it breaks", base(func(*http.Request) (*http.Response, error) { return nil, io.ErrUnexpectedEOF }),
			func(t *testing.T) *http.Request { return request(t, "GET", "http://dep/", nil) }, reason.Failed, 2},
		{"it breaks, and may have run", base(func(*http.Request) (*http.Response, error) { return nil, errors.New("odd") }),
			func(t *testing.T) *http.Request { return request(t, "POST", "http://dep/", nil) }, reason.Unknown, 1},
		{"the request is none", &http.Transport{}, func(t *testing.T) *http.Request {
			r := request(t, "GET", "http://127.0.0.1:1/", nil)
			r.Header["bad name"] = []string{"x"}
			return r
		}, nil, 0},
		{"the body cannot be read", base(func(r *http.Request) (*http.Response, error) { _, err := io.ReadAll(r.Body); return nil, err }),
			func(t *testing.T) *http.Request {
				return request(t, "PUT", "http://dep/", io.MultiReader(strings.NewReader("x"), broken{errBody}))
			}, errBody, 0},
	} {
		t.Run(k.name, func(t *testing.T) {
			client := &http.Client{Transport: httpgate.NewTransport(k.base, dependency(t, retries(1)))}
			a := do(client, k.req(t))
			if a.err == nil || k.why != nil && !errors.Is(a.err, k.why) {
				t.Errorf("got %v, want %v", a.err, k.why)
			}
			f, ok := errors.AsType[*caller.Failure](a.err)
			if ok != (k.attempts > 0) || ok && f.Attempts != k.attempts {
				t.Errorf("got %v, want %d attempts", a.err, k.attempts)
			}
		})
	}
	synctest.Test(t, func(t *testing.T) {
		client := &http.Client{Timeout: time.Second, Transport: httpgate.NewTransport(base(func(r *http.Request) (*http.Response, error) {
			<-r.Context().Done()
			return nil, r.Context().Err()
		}), dependency(t, retries(3)))}
		a := do(client, request(t, "GET", "http://dep/", nil))
		timeout, ok := errors.AsType[*url.Error](a.err)
		if !ok || !timeout.Timeout() || !errors.Is(a.err, context.DeadlineExceeded) {
			t.Errorf("got %v", a.err)
		}
	})
}

type broken struct{ err error }

func (b broken) Read([]byte) (int, error) { return 0, b.err }
