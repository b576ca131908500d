package soak_test

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/spillway-dev/spillway/config"
	"github.com/spillway-dev/spillway/gateway"
	"github.com/spillway-dev/spillway/load"
	"github.com/spillway-dev/spillway/report"
	"github.com/spillway-dev/spillway/test/leak"
	"github.com/spillway-dev/spillway/workload"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// soon is how long what must happen at once may take.
const soon = 10 * time.Second

// budget is the class's latency budget: an order of magnitude more than the
// service takes, for a busy machine.
const budget = time.Second

// length is how long it goes on: SPILLWAY_SOAK, or a minute.
func length(t *testing.T) time.Duration {
	text := os.Getenv("SPILLWAY_SOAK")
	if text == "" {
		if testing.Short() {
			return 5 * time.Second
		}
		return time.Minute
	}
	d, err := time.ParseDuration(text)
	if err != nil {
		t.Fatalf("SPILLWAY_SOAK=%s: write a duration, as in 30m", text)
	}
	return d
}

// file is the configuration's n-th form. What changes: slots, weights, a class that
// comes and goes, a bound.
func file(upstream, front, secure string, p *pairs, n int) string {
	extra := ""
	if n%3 == 1 {
		extra = "  extra: { match: { path: /extra/* }, slots: 1 }\n"
	}
	return fmt.Sprintf(`version: 1
listen:
  - %q
  - { address: %q, tls: { cert: %q, key: %q } }
reload: { every: 200ms }
upstreams: { app: { url: %q } }
classes:
%s  all:
    match: { path: /* }
    slots: %d
    budget: { latency: %v, service: %v }
    deadline: %v
    abandoned: { hold_at_most: 2s }
    tenant: { key: "header:X-Tenant", policy: wrr, weights: { a: %d, b: 1 } }
`, front, secure, p.cert, p.key, upstream, extra, slots-n%3, budget, serviceTime, budget, 1+n%4)
}

func TestSoak(t *testing.T) {
	d := length(t)
	descriptors := leak.Sockets()
	runSoak(t, d)
	if t.Failed() {
		return
	}
	until(t, "every descriptor is closed", func() bool { return leak.Sockets() <= descriptors })
}

func runSoak(t *testing.T, d time.Duration) {
	serving := newService(t)
	upstream := httptest.NewUnstartedServer(serving)
	upstream.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, 0)
	upstream.Start()
	defer func() { upstream.CloseClientConnections(); upstream.Close() }()

	p := newPairs(t)
	front, secure := freeAddr(t), freeAddr(t)
	path := filepath.Join(t.TempDir(), "spillway.yaml")
	form := func(n int) string { return file(upstream.URL, front, secure, p, n) }
	write(t, path, form(0))
	cfg, err := config.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	admin, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	g, err := gateway.New(cfg, gateway.Options{
		AdminListener: admin, Logger: slog.New(slog.DiscardHandler), DrainLimit: soon,
		Load: func() (*config.Config, error) { return config.Load(path) },
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- g.Serve(ctx) }()
	until(t, "it listens", func() bool {
		c, err := net.Dial("tcp", front)
		if err == nil {
			c.Close()
		}
		return err == nil
	})

	var all sync.WaitGroup
	chaos, calm := context.WithTimeout(context.Background(), d)
	defer calm()
	for range 6 {
		all.Go(func() { quit(chaos, front) })
	}
	var met [2]atomic.Int64
	all.Go(func() { greet(chaos, t, secure, p.roots, &met) })
	reloads := 0
	var heap []uint64
	all.Go(func() {
		every := time.NewTicker(time.Second)
		defer every.Stop()
		for n := 1; chaos.Err() == nil; n++ {
			select {
			case <-every.C:
			case <-chaos.Done():
				return
			}
			write(t, path, form(n))
			if _, err := g.Reload("soak"); err != nil {
				t.Errorf("reload %d: %v", n, err)
			}
			reloads++
			if n%2 == 0 {
				p.turn(t, n/2)
			}
			if err := g.Gate("app").Check(); err != nil {
				t.Errorf("after %d s: %v", n, err)
			}
			heap = append(heap, leak.Heap())
		}
	})
	served := offer(t, front, d)
	all.Wait()

	stop()
	if err := <-ended; err != nil {
		t.Errorf("serve: %v", err)
	}
	for _, s := range g.Gate("app").States() {
		if s.Used+s.Waiting+s.Blocked != 0 || s.Tally.Running+s.Tally.Waiting+s.Tally.Abandoned != 0 {
			t.Errorf("class %s is left with %d slots, %d waiting, %+v", s.Name, s.Used, s.Waiting, s.Tally)
		}
	}
	if n := g.Gate("app").Bugs(); n != 0 {
		t.Errorf("%d broken invariants", n)
	}
	// On a machine that has nothing else to do.
	if p99 := time.Duration(float64(served.P99Ms) * 1e6); os.Getenv("SPILLWAY_SOAK") != "" && p99 > budget {
		t.Errorf("p99 of the served is %v, the budget %v", p99, budget)
	}
	if served.Reasons["served"] == 0 || served.Offered == served.Reasons["served"] || serving.served.Load() == 0 {
		t.Errorf("nothing was served, or nothing refused: %v", served.Reasons)
	}
	if d >= 10*time.Second && (met[0].Load() == 0 || met[1].Load() == 0) {
		t.Errorf("certificates met: %d and %d", met[0].Load(), met[1].Load())
	}
	flat(t, heap)
	t.Logf("%v: %d offered, %v, p99 %.0f ms; %d reloads, handshakes %d and %d, live heap %d KiB at a third, %d KiB at the end",
		d, served.Offered, served.Reasons, float64(served.P99Ms), reloads, met[0].Load(), met[1].Load(), at(heap, 1./3)>>10, at(heap, 1)>>10)
}

// offer sends three times what the service can do, of two tenants.
func offer(t *testing.T, addr string, d time.Duration) *report.Group {
	t.Helper()
	names := workload.NewNames()
	rate, err := workload.ConstantRate(3 * slots / serviceTime.Seconds())
	if err != nil {
		t.Fatal(err)
	}
	source, err := workload.Spec{Seed: 1, Rate: rate, For: d, Classes: workload.Only("all")}.Source(names)
	if err != nil {
		t.Fatal(err)
	}
	result, err := load.Run(context.Background(), load.Config{
		URL: "http://" + addr + "/{{.Class}}/{{.N}}", Header: []string{"X-Tenant: a"}, Source: source, Names: names,
		Timeout: soon, Deadline: budget, LagBound: time.Second, MaxInFlight: 1000, Warm: 16,
	})
	if err != nil {
		t.Fatal(err)
	}
	r := result.Collector.Report(report.About{Mode: "live", Seed: 1, Seconds: result.Elapsed.Seconds()})
	if err := r.Check(); err != nil {
		t.Error(err)
	}
	return r.Classes["all"]
}

// flat fails if memory that is in use grows from a third of the time to its end by
// more than what comes and goes with the load.
func flat(t *testing.T, heap []uint64) {
	t.Helper()
	if len(heap) < 30 {
		return
	}
	const comesAndGoes = 8 << 20
	if early, late := at(heap, 1./3), at(heap, 1); late > early+early/4+comesAndGoes {
		t.Errorf("live heap grew from %d to %d KiB", early>>10, late>>10)
	}
}

// at returns the least of the five samples before a part of the time.
func at(samples []uint64, part float64) uint64 {
	to := int(part * float64(len(samples)))
	var least uint64
	for i, s := range samples[max(0, to-5):to] {
		if i == 0 || s < least {
			least = s
		}
	}
	return least
}

func freeAddr(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path+".new", []byte(text), 0o600); err != nil {
		t.Error(err)
	}
	if err := os.Rename(path+".new", path); err != nil {
		t.Error(err)
	}
}

// until waits for what must come true soon.
func until(t *testing.T, what string, is func() bool) {
	t.Helper()
	for end := time.Now().Add(soon); !is(); runtime.Gosched() {
		if time.Now().After(end) {
			t.Fatalf("it never came true that %s", what)
		}
	}
}
