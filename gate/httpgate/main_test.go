package httpgate_test

import (
	"context"
	"crypto/tls"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/spillway-dev/spillway/gate"
	"github.com/spillway-dev/spillway/policy/boundary"
	"github.com/spillway-dev/spillway/policy/reason"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// open returns a gate of one class whose accounts must close when the test ends.
func open(t *testing.T, c gate.Class) *gate.Gate {
	t.Helper()
	c.Name = "checkout"
	g, err := gate.New(gate.Config{Classes: []gate.Class{c}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := g.Check(); err != nil {
			t.Error(err)
		}
		if g.Bugs() != 0 {
			t.Errorf("%d bugs", g.Bugs())
		}
		g.Close()
	})
	return g
}

// patience is a deadline that passes in a test, and within which a handler that
// does its part at once has done it, however busy the machine.
const patience = 500 * time.Millisecond

// full is a class with one slot and no room.
func full() gate.Class {
	return gate.Class{Pool: gate.Pool{Slots: 1, Latency: time.Millisecond, Service: time.Millisecond}}
}

// drained waits until nothing holds a slot any more.
func drained(t *testing.T, g *gate.Gate) boundary.ClassState {
	t.Helper()
	eventually(t, "the slots to be free", func() bool { return g.States()[0].Used == 0 })
	return g.States()[0]
}

// eventually waits for what other goroutines bring about; the bound is only
// there to end a test that fails.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(20 * time.Second); !ok(); <-tick.C {
		if time.Now().After(end) {
			t.Fatalf("waited in vain for %s", what)
		}
	}
}

// protocols runs f with a real server and client for HTTP/1.1 and for HTTP/2.
func protocols(t *testing.T, f func(t *testing.T, serve func(http.Handler) *server)) {
	for _, proto := range []string{"HTTP/1.1", "HTTP/2.0"} {
		t.Run(proto, func(t *testing.T) {
			f(t, func(h http.Handler) *server { return serve(t, proto, h) })
		})
	}
}

// server is a server with the log that it writes and a client of its own.
type server struct {
	*httptest.Server
	client *http.Client
	log    *strings.Builder
	mu     *sync.Mutex
}

func (s *server) logged() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.log.String()
}

type lockedWriter struct {
	mu *sync.Mutex
	w  io.Writer
}

func (l lockedWriter) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.w.Write(b)
}

func serve(t *testing.T, proto string, h http.Handler) *server {
	s := &server{Server: httptest.NewUnstartedServer(h), log: new(strings.Builder), mu: new(sync.Mutex)}
	s.Config.ErrorLog = log.New(lockedWriter{s.mu, s.log}, "", 0)
	if proto == "HTTP/2.0" {
		s.EnableHTTP2 = true
		s.StartTLS()
		s.client = s.Client()
	} else {
		s.Start()
		// A fresh connection for each request: Go's client silently sends a GET
		// again when a kept connection breaks, as it does after a panic.
		s.client = &http.Client{Transport: &http.Transport{DisableKeepAlives: true, TLSClientConfig: &tls.Config{}}}
	}
	t.Cleanup(func() {
		s.client.CloseIdleConnections()
		s.Close()
	})
	return s
}

// get returns the answer's status, header and whole body.
func (s *server) get(ctx context.Context, t *testing.T, header ...string) (*http.Response, string) {
	t.Helper()
	resp, body, err := s.try(ctx, "GET", nil, header...)
	if err != nil {
		t.Fatal(err)
	}
	return resp, body
}

func (s *server) try(ctx context.Context, method string, body io.Reader, header ...string) (*http.Response, string, error) {
	req, err := http.NewRequestWithContext(ctx, method, s.URL, body)
	if err != nil {
		return nil, "", err
	}
	for i := 0; i < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	resp, err := s.client.Do(req)
	if err != nil {
		return nil, "", err
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	return resp, string(b), err
}

// wantAnswer checks status, rung and reason.
func wantAnswer(t *testing.T, resp *http.Response, status int, why reason.Reason) {
	t.Helper()
	rung := "refusal"
	if why == reason.Served {
		rung = "primary"
	}
	h := resp.Header
	if resp.StatusCode != status || h.Get("Spillway-Rung") != rung || h.Get("Spillway-Reason") != why.String() {
		t.Errorf("got %s, %s, %s; want %d, %s, %s", resp.Status, h.Get("Spillway-Rung"), h.Get("Spillway-Reason"), status, rung, why)
	}
}
