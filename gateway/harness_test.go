package gateway_test

import (
	"context"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/spillway-dev/spillway/config"
	"github.com/spillway-dev/spillway/gate"
	"github.com/spillway-dev/spillway/gateway"
	"github.com/spillway-dev/spillway/policy/boundary"
)

// longWay has every gateway of a test pass all requests by net/http.
var longWay bool

// Every test is run twice: with plain requests on their short way, and by net/http
// alone. Nobody can tell the difference.
func TestMain(m *testing.M) {
	code := m.Run()
	if code == 0 && flag.Lookup("test.bench").Value.String() == "" && flag.Lookup("test.fuzz").Value.String() == "" {
		longWay = true
		code = m.Run()
	}
	if err := goleak.Find(); code == 0 && err != nil {
		fmt.Fprintln(os.Stderr, "goleak:", err)
		code = 1
	}
	os.Exit(code)
}

// soon is how long a test waits for what must happen at once: an order of
// magnitude more than it takes on a busy machine.
const soon = 10 * time.Second

// harness is a gateway on loopback in front of a service of the test's own.
type harness struct {
	testing.TB
	*gateway.Gateway
	url, admin string
	addr       string
	client     *http.Client // HTTP/1.1, a connection a request
	stop       func()
}

// start runs a gateway for the classes (YAML, below "classes:") in front of the
// service. At the end of the test it drains and everything must add up.
func start(t testing.TB, classes string, service http.HandlerFunc, change ...func(*gateway.Options)) *harness {
	t.Helper()
	return startAt(t, serviceAt(t, service), classes, change...)
}

// serviceAt runs an upstream that speaks HTTP/1.1 and h2c.
func serviceAt(t testing.TB, service http.HandlerFunc) string {
	s := httptest.NewUnstartedServer(service)
	s.Config.Protocols = new(http.Protocols)
	s.Config.Protocols.SetHTTP1(true)
	s.Config.Protocols.SetUnencryptedHTTP2(true)
	s.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, 0)
	s.Start()
	t.Cleanup(func() { s.CloseClientConnections(); s.Close() })
	return s.URL
}

func startAt(t testing.TB, upstream, classes string, change ...func(*gateway.Options)) *harness {
	t.Helper()
	text := fmt.Sprintf("version: 1\nupstreams: { app: { url: %q } }\n%s\nclasses:\n%s", upstream, top(classes), below(classes))
	cfg, err := config.Parse("test.yaml", []byte(text))
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return startConfig(t, cfg, change...)
}

// startConfig runs a gateway for a configuration.
func startConfig(t testing.TB, cfg *config.Config, change ...func(*gateway.Options)) *harness {
	t.Helper()
	var err error
	o := gateway.Options{
		Listener: listen(t), AdminListener: listen(t),
		Logger: slog.New(slog.DiscardHandler), DrainLimit: soon, LongWay: longWay,
	}
	for _, f := range change {
		f(&o)
	}
	h := &harness{TB: t, addr: o.Listener.Addr().String()}
	h.url, h.admin = "http://"+h.addr, "http://"+o.AdminListener.Addr().String()
	if h.Gateway, err = gateway.New(cfg, o); err != nil {
		t.Fatal(err)
	}
	h.client = &http.Client{Transport: &http.Transport{DisableKeepAlives: true, DisableCompression: true}, Timeout: 3 * soon}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- h.Serve(ctx) }()
	stopped := false
	h.stop = func() {
		if stopped {
			return
		}
		stopped = true
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("serve: %v", err)
		}
		h.addsUp()
	}
	t.Cleanup(func() { h.stop() })
	return h
}

// top returns the lines of a test's configuration that are not classes.
func top(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		if !strings.HasPrefix(line, " ") {
			b.WriteString(line)
		}
	}
	return b.String()
}

func below(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, " ") {
			b.WriteString(line)
		}
	}
	return b.String()
}

func listen(t testing.TB) net.Listener {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// gate returns the gate of the test's one upstream.
func (h *harness) gate() *gate.Gate { return h.Gate("app") }

// state returns the state of a class.
func (h *harness) state(class string) boundary.ClassState {
	return h.gate().States()[h.gate().Class(class)]
}

// addsUp fails the test unless the gate is empty and its accounts close.
func (h *harness) addsUp() {
	h.Helper()
	if err := h.gate().Check(); err != nil {
		h.Errorf("the gate's accounts: %v", err)
	}
	if n := h.gate().Bugs(); n != 0 {
		h.Errorf("%d bugs counted", n)
	}
	for _, s := range h.gate().States() {
		if s.Used != 0 || s.Waiting != 0 || s.Tally.Running != 0 || s.Tally.Abandoned != 0 {
			h.Errorf("class %s: %d slots used, %d waiting, %d running, %d abandoned; want all 0", s.Name, s.Used, s.Waiting, s.Tally.Running, s.Tally.Abandoned)
		}
	}
}

// until waits for something to become true that happens by itself.
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

// got is an answer, read to its end.
type got struct {
	*http.Response
	body string
}

func (h *harness) get(path string, header ...string) got {
	h.Helper()
	return h.send("GET", path, nil, header...)
}

func (h *harness) send(method, path string, body io.Reader, header ...string) got {
	h.Helper()
	res, err := h.try(method, path, body, header...)
	if err != nil {
		h.Fatalf("%s %s: %v", method, path, err)
	}
	return res
}

func (h *harness) try(method, path string, body io.Reader, header ...string) (got, error) {
	req, err := http.NewRequest(method, h.url+path, body)
	if err != nil {
		return got{}, err
	}
	for i := 0; i+1 < len(header); i += 2 {
		req.Header[http.CanonicalHeaderKey(header[i])] = []string{header[i+1]}
	}
	return read(h.client.Do(req))
}

func read(res *http.Response, err error) (got, error) {
	if err != nil {
		return got{}, err
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	return got{res, string(b)}, err
}

func (h *harness) adminGet(path string, header ...string) got {
	h.Helper()
	req, err := http.NewRequest("GET", h.admin+path, nil)
	if err != nil {
		h.Fatal(err)
	}
	for i := 0; i+1 < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	g, err := read(h.client.Do(req))
	if err != nil {
		h.Fatal(err)
	}
	return g
}

func want(t testing.TB, g got, status int, why, rung string) {
	t.Helper()
	if g.StatusCode != status || g.Header.Get("Spillway-Reason") != why || g.Header.Get("Spillway-Rung") != rung {
		t.Errorf("answered %d, reason %q, rung %q; want %d, %q, %q\n%s", g.StatusCode,
			g.Header.Get("Spillway-Reason"), g.Header.Get("Spillway-Rung"), status, why, rung, g.body)
	}
}
