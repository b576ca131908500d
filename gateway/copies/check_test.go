package copies_test

import (
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/health"
	"google.golang.org/grpc/health/grpc_health_v1"

	"github.com/spillway-dev/spillway/gateway/copies"
	"github.com/spillway-dev/spillway/policy/spread"
)

// often makes checks of a test.
func often(h copies.Health) copies.Health {
	h.Interval, h.Timeout = 5*time.Millisecond, soon
	return h
}

func TestAFailingCheckLeavesACopyOut(t *testing.T) {
	var status atomic.Int64
	var path atomic.Value
	status.Store(200)
	a := serve(t, func(w http.ResponseWriter, r *http.Request) {
		path.Store(r.URL.String() + " " + r.UserAgent())
		w.WriteHeader(int(status.Load()))
	})
	b := serve(t, nil)
	ua := a.url()
	ua.Path = "/shop/"
	s := set(t, copies.Config{
		URLs: []*url.URL{ua, b.url()}, Health: often(copies.Health{Kind: copies.HTTP, Path: "/healthz?deep=1"}),
		Spread: spread.Config{Healthy: 2, Unhealthy: 2},
	})
	name := a.address + "/shop/"
	until(t, "a check", func() bool { return a.calls.Load() > 0 })
	status.Store(500)
	until(t, "out", func() bool { return word(s, name) == "unhealthy" })
	if got := path.Load(); got != "/shop/healthz?deep=1 spillway-check" {
		t.Errorf("asked for %q", got)
	}
	for range 5 {
		if got, err := call(t, s, soon); got != b.address || err != nil {
			t.Fatalf("%s, %v; want the healthy copy", got, err)
		}
	}
	if st := s.States()[0]; !strings.Contains(st.Check, "answered 500") || st.Connections != 0 || st.InFlight != 0 {
		t.Errorf("%+v; checks are no traffic, and say what is wrong", st)
	}
	status.Store(204)
	until(t, "in", func() bool { w := word(s, name); return w == "in" || w == "starting slowly" })
}

func TestOneStatusIsRight(t *testing.T) {
	a, b := serve(t, nil), serve(t, nil)
	s := set(t, copies.Config{URLs: of(a, b), Health: often(copies.Health{Kind: copies.HTTP, Path: "/", Status: 204})})
	until(t, "200 is not 204: all are unhealthy, and used", func() bool { return s.Panic() })
	if _, err := call(t, s, soon); err != nil {
		t.Error(err)
	}
}

func TestAFrozenCopyFailsItsChecks(t *testing.T) {
	thaw := make(chan struct{})
	frozen := serve(t, func(http.ResponseWriter, *http.Request) { <-thaw })
	defer close(thaw)
	well := serve(t, nil)
	s := set(t, copies.Config{URLs: of(frozen, well), Health: copies.Health{Kind: copies.HTTP, Path: "/", Interval: 5 * time.Millisecond, Timeout: 30 * time.Millisecond}})
	until(t, "out", func() bool { return word(s, frozen.address) == "unhealthy" })
	if _, err := call(t, s, soon); err != nil {
		t.Error(err)
	}
}

func TestAConnectionIsACheck(t *testing.T) {
	a, b := serve(t, nil), serve(t, nil)
	s := set(t, copies.Config{URLs: of(a, b), Health: often(copies.Health{Kind: copies.Connect}), Spread: spread.Config{Unhealthy: 1}})
	until(t, "checked", func() bool { return s.States()[0].Check == "ok" && s.States()[1].Check == "ok" })
	a.kill()
	until(t, "out", func() bool { return word(s, a.address) == "unhealthy" })
	a.start()
	until(t, "back", func() bool { w := word(s, a.address); return w == "in" || w == "starting slowly" })
}

func TestTheHealthOfAGRPCService(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server, tells := grpc.NewServer(), health.NewServer()
	grpc_health_v1.RegisterHealthServer(server, tells)
	tells.SetServingStatus("shop.v1.Cart", grpc_health_v1.HealthCheckResponse_SERVING)
	done := make(chan struct{})
	go func() { server.Serve(l); close(done) }()
	defer func() { server.Stop(); <-done }()
	u := func() []*url.URL {
		return []*url.URL{parse(t, "h2c://"+l.Addr().String()), parse(t, "h2c://127.0.0.1:1")}
	}
	check := func(service string) func() string {
		s := set(t, copies.Config{URLs: u(), Health: often(copies.Health{Kind: copies.GRPC, Service: service}), Spread: spread.Config{Unhealthy: 1, Healthy: 1}})
		return func() string { return s.States()[0].Check }
	}
	whole, cart, nobody := check(""), check("shop.v1.Cart"), check("shop.v1.Nobody")
	until(t, "the server as a whole serves", func() bool { return whole() == "ok" })
	until(t, "the service serves", func() bool { return cart() == "ok" })
	until(t, "another is not known", func() bool { return strings.Contains(nobody(), `no service "shop.v1.Nobody"`) })
	tells.SetServingStatus("shop.v1.Cart", grpc_health_v1.HealthCheckResponse_NOT_SERVING)
	until(t, "it does not serve", func() bool { return strings.Contains(cart(), "not serving (status 2)") })
}

func TestAGRPCServerWithoutHealth(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := grpc.NewServer()
	done := make(chan struct{})
	go func() { server.Serve(l); close(done) }()
	defer func() { server.Stop(); <-done }()
	s := set(t, copies.Config{URLs: []*url.URL{parse(t, "h2c://"+l.Addr().String())}, Health: often(copies.Health{Kind: copies.GRPC})})
	until(t, "it says what to do", func() bool { return strings.Contains(s.States()[0].Check, "register the health service") })
}
