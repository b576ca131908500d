package copies_test

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/spillway-dev/spillway/gateway/copies"
	"github.com/spillway-dev/spillway/policy/spread"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// soon is how long a test waits for what must happen at once.
const soon = 10 * time.Second

// service is a copy that a test can kill and bring back at the same address.
type service struct {
	testing.TB
	address string
	handler http.HandlerFunc
	calls   atomic.Int64
	server  *httptest.Server
}

func serve(t testing.TB, handler http.HandlerFunc) *service {
	return serveAt(t, "127.0.0.1:0", handler)
}

func serveAt(t testing.TB, address string, handler http.HandlerFunc) *service {
	if handler == nil {
		handler = func(http.ResponseWriter, *http.Request) {}
	}
	s := &service{TB: t, address: address, handler: handler}
	s.start()
	t.Cleanup(s.kill)
	return s
}

func (s *service) start() {
	s.Helper()
	l, err := net.Listen("tcp", s.address)
	if err != nil {
		s.Fatal(err)
	}
	s.address = l.Addr().String()
	s.server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.calls.Add(1)
		s.handler(w, r)
	}))
	s.server.Listener.Close()
	s.server.Listener = l
	s.server.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, 0)
	s.server.Config.Protocols = new(http.Protocols)
	s.server.Config.Protocols.SetHTTP1(true)
	s.server.Config.Protocols.SetUnencryptedHTTP2(true)
	s.server.Start()
}

// kill resets what is open and listens no more.
func (s *service) kill() {
	if s.server != nil {
		s.server.CloseClientConnections()
		s.server.Close()
		s.server = nil
	}
}

func (s *service) url() *url.URL { return parse(s, "http://"+s.address) }

func parse(t testing.TB, text string) *url.URL {
	t.Helper()
	u, err := url.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// set returns a started set that ends with the test.
func set(t testing.TB, cfg copies.Config) *copies.Set {
	t.Helper()
	cfg.Name = "app"
	s, err := copies.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	s.Start()
	t.Cleanup(s.Close)
	return s
}

func of(all ...*service) (urls []*url.URL) {
	for _, s := range all {
		urls = append(urls, s.url())
	}
	return urls
}

// call makes a request as the gateway does, and returns who answered it.
func call(t testing.TB, s *copies.Set, timeout time.Duration) (name string, err error) {
	t.Helper()
	c, ok := s.Take(nil)
	if !ok {
		t.Fatal("no copy")
	}
	defer c.Done()
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, "GET", c.Base().String()+"/", nil)
	if err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	res, err := c.Transport(false).RoundTrip(req)
	took := time.Since(began)
	switch {
	case ctx.Err() != nil:
		c.Judge(spread.Late, took)
	case err != nil:
		c.Judge(spread.Failed, took)
	default:
		io.Copy(io.Discard, res.Body)
		res.Body.Close()
		c.Judge(copies.OutcomeOf(res.StatusCode), took)
	}
	return c.Name(), c.Explain(err)
}

// states returns the states of copies by name in one word each.
func states(s *copies.Set) string {
	text := ""
	for i, st := range s.States() {
		if i > 0 {
			text += ", "
		}
		text += fmt.Sprintf("%s %s", st.Name, st.Word())
	}
	return text
}

func until(t testing.TB, what string, is func() bool) {
	t.Helper()
	deadline := time.After(soon)
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for !is() {
		select {
		case <-tick.C:
		case <-deadline:
			t.Fatalf("%s: not within %v", what, soon)
		}
	}
}

func word(s *copies.Set, name string) string {
	for _, st := range s.States() {
		if st.Name == name && !st.Draining {
			return st.Word()
		}
	}
	return "gone"
}
