package weights

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"math"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/spillway-dev/spillway/config"
	"github.com/spillway-dev/spillway/gateway"
	"github.com/spillway-dev/spillway/sim"
	"github.com/spillway-dev/spillway/trial"
	"github.com/spillway-dev/spillway/workload"
)

// file has copies of which the parts of 12 slots are 6, 4 and 2, and one that rests.
const file = `version: 1
listen: "127.0.0.1:0"
admin: "127.0.0.1:0"
upstreams:
  app:
    urls: [{ url: %q, weight: 3 }, { url: %q, weight: 2 }, %q, { url: %q, weight: 0 }]
    slots: 12
    service: 5ms
classes: { all: { slots: 12 } }
`

// parts are the copies' parts of the slots, of 12.
var parts = [4]int64{6, 4, 2, 0}

// service is a copy that takes its time, and knows how many it worked on at once.
type service struct {
	calls, busy, most atomic.Int64
}

func (s *service) ServeHTTP(w http.ResponseWriter, _ *http.Request) {
	s.calls.Add(1)
	n := s.busy.Add(1)
	for most := s.most.Load(); n > most && !s.most.CompareAndSwap(most, n); most = s.most.Load() {
	}
	<-time.After(5 * time.Millisecond) // its service time
	s.busy.Add(-1)                     // before the gateway can know
	io.WriteString(w, "done")
}

// live has so many callers at once make requests through a gateway, and returns what
// the copies made of them.
func live(t *testing.T, callers, each int) (services [4]*service) {
	t.Helper()
	var urls []any
	for i := range services {
		services[i] = &service{}
		s := httptest.NewServer(services[i])
		t.Cleanup(s.Close)
		urls = append(urls, s.URL)
	}
	cfg := parse(t, fmt.Sprintf(file, urls...))
	front, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	g, err := gateway.New(cfg, gateway.Options{Listener: front, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	served := make(chan error, 1)
	go func() { served <- g.Serve(ctx) }()
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: callers}}
	var wait sync.WaitGroup
	for range callers {
		wait.Go(func() {
			for range each {
				res, err := client.Get("http://" + front.Addr().String())
				if err != nil {
					t.Error(err)
					return
				}
				io.Copy(io.Discard, res.Body)
				res.Body.Close()
			}
		})
	}
	wait.Wait()
	client.CloseIdleConnections()
	stop()
	if err := <-served; err != nil {
		t.Error(err)
	}
	return services
}

func parse(t *testing.T, text string) *config.Config {
	t.Helper()
	cfg, err := config.Parse("test.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return cfg
}

// virtual offers so many requests a second to the model of the same file, and
// returns how many each copy worked on.
func virtual(t *testing.T, perSecond float64) (calls [4]int64) {
	t.Helper()
	rate, err := workload.ConstantRate(perSecond)
	if err != nil {
		t.Fatal(err)
	}
	cfg := parse(t, fmt.Sprintf(file, "http://h:1", "http://h:2", "http://h:3", "http://h:4"))
	s, err := trial.Trial{Config: cfg, For: 10 * time.Second, Loads: []trial.Load{{Spec: workload.Spec{Rate: rate}}}}.Scenario()
	if err != nil {
		t.Fatal(err)
	}
	s.Work = func(w *sim.Work) { calls[w.Copy]++ }
	s.Check = true
	if _, err := sim.Run(s, nil); err != nil {
		t.Fatal(err)
	}
	return calls
}

// even reports each copy whose share of the calls is not its weight's, give or take
// a part of all.
func even(t *testing.T, where string, calls [4]int64, give float64) {
	t.Helper()
	sum := 0.
	for _, n := range calls {
		sum += float64(n)
	}
	for i, n := range calls {
		if want := float64(parts[i]) / 12; math.Abs(float64(n)/sum-want) > give || parts[i] == 0 && n > 0 {
			t.Errorf("%s: copy %d got %d of %.0f calls, want %.3f of them", where, i, n, sum, want)
		}
	}
}

// A caller alone, a few, and as many as there are slots: live the shares are the
// weights, and no copy works on more than its part.
func TestSharesFollowWeightsLive(t *testing.T) {
	for _, tt := range []struct {
		callers, each int
		give          float64
	}{{1, 60, 0}, {3, 80, 0.03}, {12, 60, 0.03}, {30, 40, 0.03}} {
		var calls [4]int64
		for i, s := range live(t, tt.callers, tt.each) {
			calls[i] = s.calls.Load()
			if most := s.most.Load(); most > parts[i] {
				t.Errorf("%d callers: copy %d worked on %d at once, %d are its part", tt.callers, i, most, parts[i])
			}
		}
		even(t, fmt.Sprintf("%d callers", tt.callers), calls, tt.give)
	}
}

// In virtual time they are the same, from a hundredth of what the copies can do to
// twice as much.
func TestSharesFollowWeightsInVirtualTime(t *testing.T) {
	for _, perSecond := range []float64{24, 240, 1200, 2400, 4800} {
		even(t, fmt.Sprintf("%g/s", perSecond), virtual(t, perSecond), 0.02)
	}
}
