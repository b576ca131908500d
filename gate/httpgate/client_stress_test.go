package httpgate_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/spillway-dev/spillway/gate"
	"github.com/spillway-dev/spillway/gate/caller"
	"github.com/spillway-dev/spillway/gate/httpgate"
	"github.com/spillway-dev/spillway/policy/call"
	"github.com/spillway-dev/spillway/test/leak"
	"github.com/spillway-dev/spillway/test/need"
)

// moods are ways in which a service treats a request, once it has read its body.
var moods = []struct {
	share int // of a hundred
	do    func(w http.ResponseWriter, r *http.Request, sent []byte)
}{
	{2, func(_ http.ResponseWriter, r *http.Request, _ []byte) { <-r.Context().Done() }}, // hangs
	{1, func(w http.ResponseWriter, r *http.Request, sent []byte) { // is deaf, and late
		<-r.Context().Done()
		timer := time.NewTimer(30 * ms)
		defer timer.Stop()
		<-timer.C
		w.Write(sent)
	}},
	{2, func(w http.ResponseWriter, _ *http.Request, _ []byte) { reset(w) }},
	{2, func(http.ResponseWriter, *http.Request, []byte) { panic(http.ErrAbortHandler) }},
	{2, func(w http.ResponseWriter, _ *http.Request, sent []byte) { // half a body, that says how long it would be
		w.Header().Set("Content-Length", strconv.Itoa(2*len(sent)+2))
		w.Write(append(sent, 'y'))
		http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	}},
	{2, func(w http.ResponseWriter, _ *http.Request, sent []byte) { // or that does not
		w.Write(sent)
		http.NewResponseController(w).Flush()
		reset(w)
	}},
	{3, func(w http.ResponseWriter, _ *http.Request, sent []byte) { w.WriteHeader(500); w.Write(sent) }},
	{2, func(w http.ResponseWriter, _ *http.Request, _ []byte) {
		w.Header().Set("Retry-After-Ms", "3")
		w.WriteHeader(503)
	}},
}

// reset breaks the connection off, in HTTP/2 the stream.
func reset(w http.ResponseWriter) {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	if h, ok := conn.(interface{ SetLinger(int) error }); ok {
		h.SetLinger(0)
	}
	conn.Close()
}

// moody takes its time, and answers with what it was sent, twice; or it does not.
func moody(w http.ResponseWriter, r *http.Request) {
	sent, _ := io.ReadAll(r.Body)
	if rand.IntN(4) == 0 {
		timer := time.NewTimer(time.Duration(rand.Int64N(int64(5 * ms))))
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-r.Context().Done():
		}
	}
	n := rand.IntN(100)
	for _, m := range moods {
		if n -= m.share; n < 0 {
			m.do(w, r, sent)
			return
		}
	}
	w.Write(sent)
	http.NewResponseController(w).Flush()
	w.Write(sent)
}

var errBoom = errors.New("boom")

// panicky is a base that panics now and then, before it has sent anything or after.
func panicky(to http.RoundTripper) roundTripper {
	return func(req *http.Request) (*http.Response, error) {
		switch rand.IntN(400) {
		case 0:
			panic(errBoom)
		case 1:
			if resp, err := to.RoundTrip(req); err == nil {
				resp.Body.Close()
			}
			panic(errBoom)
		}
		return to.RoundTrip(req)
	}
}

// tracked is a body that counts itself down when it is closed.
type tracked struct {
	io.Reader
	open *atomic.Int64
	once sync.Once
}

func (b *tracked) Close() error { b.once.Do(func() { b.open.Add(-1) }); return nil }

// crew makes calls at random and counts how they end.
type crew struct {
	t      *testing.T
	url    string
	client *http.Client
	bodies atomic.Int64 // that are not closed

	whole, broken, failed, panicked atomic.Int64
}

// request has a body or none, and may or may not be repeated, and its body again.
func (c *crew) request(ctx context.Context) (req *http.Request, text string) {
	method, body := "GET", io.Reader(nil)
	if rand.IntN(2) == 0 {
		text = strings.Repeat("x", rand.IntN(4<<10))
		method, body = "PUT", &tracked{Reader: strings.NewReader(text), open: &c.bodies}
		if rand.IntN(3) == 0 {
			method = "POST"
		}
		c.bodies.Add(1)
	}
	req = request(c.t, method, c.url, body).WithContext(ctx)
	if body != nil && rand.IntN(3) == 0 {
		req.GetBody = func() (io.ReadCloser, error) {
			c.bodies.Add(1)
			return &tracked{Reader: strings.NewReader(text), open: &c.bodies}, nil
		}
	}
	return req, text
}

// call makes one, whose caller may leave, or not read its answer.
func (c *crew) call() {
	ctx, cancel := context.WithCancel(c.t.Context())
	defer cancel()
	if rand.IntN(4) == 0 {
		defer time.AfterFunc(time.Duration(rand.Int64N(int64(8*ms))), cancel).Stop()
	}
	returned := false
	defer func() {
		if p := recover(); p != nil {
			c.panicked.Add(1)
			if err, ok := p.(error); !ok || !errors.Is(err, errBoom) {
				panic(p)
			}
		} else if !returned {
			c.t.Error("a call did not return")
		}
	}()
	req, text := c.request(ctx)
	resp, err := c.client.Do(req)
	returned = true
	if err != nil {
		c.failed.Add(1)
		if !errors.Is(err, caller.ErrFailed) && !errors.Is(err, context.Canceled) {
			c.t.Errorf("ended with %v", err)
		}
		return
	}
	defer resp.Body.Close()
	if rand.IntN(5) == 0 {
		return // not read at all
	}
	b, err := io.ReadAll(resp.Body)
	switch {
	case err != nil:
		c.broken.Add(1)
	case resp.StatusCode == 200:
		c.whole.Add(1)
		if string(b) != text+text {
			c.t.Errorf("%d bytes, want twice %d", len(b), len(text))
		}
	}
}

// policies are those of the dependencies that the calls go to, in turn.
func policies() (all []call.Policy) {
	const limit = 500 * ms // which who is well meets on a busy machine too
	tenth := call.Budget{Percent: 10, Floor: 3}
	limits := call.Policy{
		Timeout: limit, Retries: 2, Budget: tenth, Backoff: call.Backoff{Base: ms},
		Breaker: call.Breaker{Failures: 80, OpenFor: 5 * ms, OpenMax: 10 * ms},
	}
	hedges := limits
	hedges.Hedge = call.Hedge{After: 2 * ms, Budget: tenth, SlowShare: 100}
	free := hedges
	free.Budget, free.Hedge.Budget = unlimited, unlimited
	tokens := limits
	tokens.Budget = call.Budget{Tokens: 10, Percent: 10}
	return []call.Policy{limits, hedges, free, tokens, {Timeout: limit}}
}

// The million over real connections: callers that leave, bases that panic, services that
// hang, reset, answer late or by half and refuse behind a gate, limits, hedges and
// retries. Nothing is left of them, no goroutine, connection, body, permit or reserved
// retry, no memory, and whoever reads an answer to its end gets all of it.
func TestNothingIsLeftOfClientsAtRandom(t *testing.T) {
	total := need.Count(t, "SPILLWAY_CALLS", 4_000)
	both(t, func(t *testing.T, start func(http.HandlerFunc, call.Policy, ...httpgate.ClientOption) *upstream) {
		g, err := gate.New(gate.Config{Strict: true, Classes: []gate.Class{{Name: "all", Pool: gate.Pool{Slots: 100, Latency: time.Second, Service: 5 * ms}}}})
		if err != nil {
			t.Fatal(err)
		}
		defer g.Close()
		u := start(httpgate.Middleware(g)(http.HandlerFunc(moody)).ServeHTTP, call.Policy{})
		var lost atomic.Int64
		var callers []*caller.Caller
		for _, p := range policies() {
			c, err := caller.New(p, caller.OnPanic(func(any, []byte) { lost.Add(1) }))
			if err != nil {
				t.Fatal(err)
			}
			callers = append(callers, c)
		}
		c := &crew{t: t, url: u.URL, client: &http.Client{Transport: httpgate.NewTransport(panicky(u.base), nil, httpgate.ReplayLimit(1<<10),
			httpgate.Dependency(func(*http.Request) *caller.Caller { return callers[rand.IntN(len(callers))] }))}}
		do(u.client, request(t, "GET", u.URL, nil))
		eventually(t, "connections to be idle", u.idle)
		before := leak.Held()
		var next atomic.Int64
		crowd(16, total/16+1, func() {
			if next.Add(1) <= int64(total) {
				c.call()
			}
		})
		eventually(t, "connections to be idle", u.idle)
		drained(t, g)
		eventually(t, "bodies to be closed", func() bool { return c.bodies.Load() == 0 })
		for i, c := range callers {
			eventually(t, "budgets to be closed", func() bool { return c.State().Reserved == 0 })
			if s := c.State(); s.Calls == 0 || len(callers)-1 > i && s.Retries == 0 {
				t.Errorf("caller %d: %+v", i, s.Count)
			}
		}
		before.Left(t, leak.Slack{Goroutines: 4, Heap: 8 << 20})
		if err := g.Check(); err != nil {
			t.Error(err)
		}
		whole, broken, failed, panicked := c.whole.Load(), c.broken.Load(), c.failed.Load(), c.panicked.Load()
		if whole == 0 || broken == 0 || failed == 0 || panicked == 0 {
			t.Error("not all that can happen has happened")
		}
		t.Logf("%d calls: %d read whole, %d broke off, %d failed, %d panicked, %d panics too late for their call", total, whole, broken, failed, panicked, lost.Load())
	})
}

// A base that panics has closed nothing: the request's body is closed all the same, also
// where a hedge was under way, and there is nothing reserved.
func TestAPanickingBaseLeavesNoBodyOpen(t *testing.T) {
	for name, p := range map[string]call.Policy{"alone": {}, "with retries": retries(1), "beside a hedge": hedged(time.Nanosecond)} {
		for _, rewind := range []bool{false, true} {
			c := dependency(t, p)
			client := &http.Client{Transport: httpgate.NewTransport(roundTripper(func(*http.Request) (*http.Response, error) { panic(errBoom) }), c)}
			var open atomic.Int64
			body := func() (io.ReadCloser, error) {
				open.Add(1)
				return &tracked{Reader: bytes.NewReader([]byte("abc")), open: &open}, nil
			}
			b, _ := body()
			req := request(t, "PUT", "http://dep/", b)
			if rewind {
				req.GetBody = body
			}
			func() {
				defer func() {
					if recover() == nil {
						t.Errorf("%s: the panic is lost", name)
					}
				}()
				do(client, req)
			}()
			eventually(t, "the body to be closed", func() bool { return open.Load() == 0 && c.State().Reserved == 0 })
		}
	}
}

// roundTripper is a base that closes nothing.
type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(req *http.Request) (*http.Response, error) { return f(req) }
