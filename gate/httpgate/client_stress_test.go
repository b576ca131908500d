package httpgate_test

import (
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/spillway-dev/spillway/gate"
	"github.com/spillway-dev/spillway/gate/caller"
	"github.com/spillway-dev/spillway/gate/httpgate"
	"github.com/spillway-dev/spillway/policy/call"
	"github.com/spillway-dev/spillway/test/need"
)

// Calls at random over real connections, with callers that leave, services that crash,
// dawdle and refuse behind a gate, limits, hedges and retries: nothing is left, no
// goroutine, body or permit, and whoever reads an answer to its end gets all of it.
func TestNothingIsLeftOfClientsAtRandom(t *testing.T) {
	both(t, func(t *testing.T, start func(http.HandlerFunc, call.Policy, ...httpgate.ClientOption) *upstream) {
		g, err := gate.New(gate.Config{Strict: true, Classes: []gate.Class{{Name: "all", Pool: gate.Pool{Slots: 20, Latency: time.Second, Service: 5 * ms}}}})
		if err != nil {
			t.Fatal(err)
		}
		defer g.Close()
		work := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			b, _ := io.ReadAll(r.Body)
			select {
			case <-time.After(time.Duration(rand.Int64N(int64(5 * ms)))):
			case <-r.Context().Done():
			}
			switch rand.IntN(20) {
			case 0:
				panic(http.ErrAbortHandler)
			case 1:
				w.WriteHeader(502)
			}
			w.Write(b)
			http.NewResponseController(w).Flush()
			w.Write(b)
		})
		p := call.Policy{Timeout: 50 * ms, Retries: 2, Budget: unlimited, Backoff: call.Backoff{Base: ms}, Hedge: hedged(2 * ms).Hedge, Breaker: call.Breaker{Failures: 80, OpenFor: 5 * ms, OpenMax: 10 * ms}}
		u := start(httpgate.Middleware(g)(work).ServeHTTP, p, httpgate.ReplayLimit(1<<10))
		var next, whole, failed, bodies atomic.Int64
		one := func() {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			if rand.IntN(4) == 0 {
				defer time.AfterFunc(time.Duration(rand.Int64N(int64(8*ms))), cancel).Stop()
			}
			text := strings.Repeat("y", rand.IntN(4<<10))
			var body io.Reader
			method := "GET"
			if rand.IntN(2) == 0 {
				bodies.Add(1)
				method, body = "PUT", &tracked{Reader: strings.NewReader(text), open: &bodies}
			} else {
				text = ""
			}
			resp, err := u.client.Do(request(t, method, u.URL, body).WithContext(ctx))
			if err != nil {
				failed.Add(1)
				if !errors.Is(err, caller.ErrFailed) && !errors.Is(err, context.Canceled) {
					t.Errorf("ended with %v", err)
				}
				return
			}
			defer resp.Body.Close()
			if rand.IntN(5) == 0 {
				return // not read at all
			}
			if b, err := io.ReadAll(resp.Body); err == nil && resp.StatusCode == 200 {
				whole.Add(1)
				if string(b) != text+text {
					t.Errorf("%d bytes, want twice %d", len(b), len(text))
				}
			}
		}
		do(u.client, request(t, "GET", u.URL, nil))
		before := runtime.NumGoroutine()
		var all sync.WaitGroup
		for range 32 {
			all.Go(func() {
				for next.Add(1) <= int64(need.Count(t, "SPILLWAY_CALLS", 4_000)) {
					one()
				}
			})
		}
		all.Wait()
		eventually(t, "connections to be idle", u.idle)
		drained(t, g)
		eventually(t, "bodies to be closed", func() bool { return bodies.Load() == 0 })
		eventually(t, "goroutines to end", func() bool { return runtime.NumGoroutine() <= before+10 })
		if err := g.Check(); err != nil {
			t.Error(err)
		}
		if whole.Load() == 0 || failed.Load() == 0 {
			t.Errorf("%d read whole, %d failed", whole.Load(), failed.Load())
		}
		t.Logf("%d read whole, %d failed", whole.Load(), failed.Load())
	})
}

// tracked is a body that counts itself down when it is closed.
type tracked struct {
	io.Reader
	open *atomic.Int64
	once sync.Once
}

func (b *tracked) Close() error { b.once.Do(func() { b.open.Add(-1) }); return nil }
