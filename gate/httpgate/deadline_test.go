package httpgate_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/spillway-dev/spillway/gate"
	"github.com/spillway-dev/spillway/gate/caller"
	"github.com/spillway-dev/spillway/gate/httpgate"
	"github.com/spillway-dev/spillway/policy/call"
	"github.com/spillway-dev/spillway/policy/reason"
)

// What a caller says of its deadline is its handler's, however it says so, and no more
// than the class allows.
func TestTheCallersWordIsTheDeadline(t *testing.T) {
	class := gate.Class{Pool: gate.Pool{Slots: 1, Latency: time.Hour, Service: time.Millisecond}}
	class.Deadline, class.DeadlineMax = 10*time.Second, 20*time.Second
	for _, tt := range []struct {
		name   string
		header []string
		opts   []httpgate.Option
		want   time.Duration // at most; 0: refused
	}{
		{"says nothing", nil, nil, 10 * time.Second},
		{"gRPC's header", []string{"Grpc-Timeout", "3S"}, nil, 3 * time.Second},
		{"Envoy's, of the upstream", []string{"X-Envoy-Upstream-Rq-Timeout-Ms", "4000"}, nil, 4 * time.Second},
		{"Envoy's, expected", []string{"X-Envoy-Expected-Rq-Timeout-Ms", "5000"}, nil, 5 * time.Second},
		{"the smallest", []string{"X-Envoy-Expected-Rq-Timeout-Ms", "5000", "Grpc-Timeout", "2S"}, nil, 2 * time.Second},
		{"the class caps it", []string{"X-Envoy-Expected-Rq-Timeout-Ms", "500000"}, nil, 20 * time.Second},
		{"nonsense is nothing", []string{"X-Envoy-Expected-Rq-Timeout-Ms", "-5", "Grpc-Timeout", "soon"}, nil, 10 * time.Second},
		{"no limit is nothing", []string{"X-Envoy-Expected-Rq-Timeout-Ms", "0"}, nil, 10 * time.Second},
		{"it had passed", []string{"Grpc-Timeout", "0n"}, nil, 0},
		{"an option says less", []string{"X-Envoy-Expected-Rq-Timeout-Ms", "5000"}, []httpgate.Option{within(time.Second)}, time.Second},
		{"an option says more", []string{"X-Envoy-Expected-Rq-Timeout-Ms", "5000"}, []httpgate.Option{within(6 * time.Second)}, 5 * time.Second},
		{"callers are not heeded", []string{"Grpc-Timeout", "0n"}, []httpgate.Option{httpgate.HeedDeadline(false)}, 10 * time.Second},
	} {
		t.Run(tt.name, func(t *testing.T) {
			g := open(t, class)
			var left time.Duration
			h := httpgate.Middleware(g, tt.opts...)(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
				at, _ := r.Context().Deadline()
				left = time.Until(at)
			}))
			s := serve(t, "HTTP/1.1", h)
			resp, err := s.client.Do(request(t, http.MethodGet, s.URL, nil, tt.header...))
			if err != nil {
				t.Fatal(err)
			}
			resp.Body.Close()
			if tt.want == 0 {
				if resp.StatusCode < 500 || left != 0 {
					t.Errorf("answered %d, with %v left to its handler", resp.StatusCode, left)
				}
				return
			}
			if left > tt.want || left < tt.want-time.Second {
				t.Errorf("%v left, want %v", left, tt.want)
			}
		})
	}
}

func within(d time.Duration) httpgate.Option {
	return httpgate.Timeout(func(*http.Request) time.Duration { return d })
}

// E1: work for a caller that has given up. The limit of each try goes along, the store
// stops there and has its slot back, though the call as a whole has much longer, and its
// refusals say when to come back.
func TestALimitFreesTheStoresSlot(t *testing.T) {
	protocols(t, func(t *testing.T, start func(http.Handler) *server) {
		g := open(t, full())
		ended := make(chan error, 1)
		s := start(httpgate.Middleware(g)(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/frozen" {
				<-r.Context().Done() // a store that is frozen until somebody stops it
				ended <- r.Context().Err()
			}
		})))
		store, err := caller.New(call.Policy{Timeout: patience})
		if err != nil {
			t.Fatal(err)
		}
		do(s.client, request(t, http.MethodGet, s.URL, nil)) // to have a connection before a limit runs
		client := &http.Client{Transport: httpgate.NewTransport(s.client.Transport, store)}
		a := do(client, request(t, http.MethodPost, s.URL+"/frozen", nil))
		if a.err == nil && a.status != http.StatusGatewayTimeout {
			t.Errorf("a frozen store answered %d", a.status)
		}
		select {
		case err := <-ended:
			if err == nil {
				t.Error("the store's work was not stopped")
			}
		case <-time.After(20 * time.Second):
			t.Fatal("the store's work was not stopped, or never begun")
		}
		drained(t, g)
		// What a millisecond is not enough for is not begun.
		held, err := g.Acquire(t.Context(), gate.Request{})
		if err != nil {
			t.Fatal(err)
		}
		defer held.Done()
		a = do(s.client, request(t, http.MethodGet, s.URL, nil, "X-Envoy-Expected-Rq-Timeout-Ms", "1"))
		if a.status != http.StatusServiceUnavailable && a.status != http.StatusGatewayTimeout || a.header.Get("Retry-After-Ms") == "" {
			t.Errorf("what is infeasible was answered %d, %v, %v", a.status, a.header, a.err)
		}
	})
}

// F1, F2: three times what a service can do, by callers that would each try four times. Its
// gate refuses, says when to come back, and the callers' budget does the rest: it is asked
// for no more than first attempts, a tenth, and the floor.
func TestOverloadIsNotMultiplied(t *testing.T) {
	const slots, calls = 4, 12 * 20
	class := gate.Class{Pool: gate.Pool{Slots: slots, Latency: ms, Service: ms}}
	class.RetryAfterMax = 2 * ms
	g := open(t, class)
	s := serve(t, "HTTP/1.1", httpgate.Middleware(g)(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		work(r.Context(), 2*ms)
	})))
	store := dependency(t, call.Policy{Timeout: 10 * time.Second, Retries: 3, Budget: call.Budget{Percent: 10, Floor: 3}})
	base := s.client.Transport.(*http.Transport)
	base.MaxIdleConnsPerHost = 3 * slots
	client := &http.Client{Transport: httpgate.NewTransport(base, store)}
	crowd(3*slots, calls/(3*slots), func() { do(client, request(t, http.MethodGet, s.URL, nil)) })
	offered := drained(t, g).Tally.Offered
	if most := int64(calls + calls/10 + 3); int64(offered) < calls || int64(offered) > most {
		t.Errorf("%d calls were %d attempts at the service, want at most %d", calls, offered, most)
	}
	if g.States()[0].Tally.Answered[reason.QueueFull] == 0 {
		t.Error("nothing was refused: there was no overload")
	}
}
