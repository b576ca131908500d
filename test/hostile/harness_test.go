package hostile_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/spillway-dev/spillway/config"
	"github.com/spillway-dev/spillway/gateway"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// soon is an order of magnitude more than what happens at once takes on a busy
// machine. No test passes because it has gone by.
const soon = 30 * time.Second

// front is a gateway under attack.
type front struct {
	testing.TB
	*gateway.Gateway
	addr, admin string
}

// stand puts a gateway in front of an upstream. top is what its configuration says
// besides; a class "all" takes every request.
func stand(t testing.TB, upstream, top string) *front {
	t.Helper()
	text := fmt.Sprintf("version: 1\nupstreams: { app: { url: \"http://%s\" } }\n%s\nclasses: { all: { match: { path: \"/*\" }, slots: 100, tenant: { key: \"header:X-Tenant\" } } }\n", upstream, top)
	cfg, err := config.Parse("hostile.yaml", []byte(text))
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	o := gateway.Options{Listener: listen(t), AdminListener: listen(t), Logger: slog.New(slog.DiscardHandler), DrainLimit: soon}
	f := &front{TB: t, addr: o.Listener.Addr().String(), admin: o.AdminListener.Addr().String()}
	if f.Gateway, err = gateway.New(cfg, o); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- f.Serve(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("serve: %v", err)
		}
		for _, s := range f.Gate("app").States() {
			if s.Used != 0 || s.Waiting != 0 {
				t.Errorf("after the attack %d slots are used and %d wait", s.Used, s.Waiting)
			}
		}
		if err := f.Gate("app").Check(); err != nil {
			t.Errorf("the accounts: %v", err)
		}
	})
	return f
}

func listen(t testing.TB) net.Listener {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// dial connects and sends.
func dial(t testing.TB, addr, text string) net.Conn {
	t.Helper()
	c, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	c.SetDeadline(time.Now().Add(soon))
	io.WriteString(c, text)
	return c
}

// answer reads one answer.
func answer(c net.Conn) (*http.Response, string, error) {
	res, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		return nil, "", err
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	return res, string(b), err
}

// behaves fails the test unless a well-behaved caller is served by the gateway,
// with its own answer.
func (f *front) behaves(path string) {
	f.Helper()
	c := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: soon}
	res, err := c.Get("http://" + f.addr + path)
	if err != nil {
		f.Errorf("a well-behaved caller: %v", err)
		return
	}
	defer res.Body.Close()
	b, _ := io.ReadAll(res.Body)
	if res.StatusCode != 200 || string(b) != path {
		f.Errorf("a well-behaved caller of %s was answered %d %q", path, res.StatusCode, b)
	}
}

// ends waits until the peer closes the connection and returns what came before.
func ends(t testing.TB, c net.Conn) string {
	t.Helper()
	b, err := io.ReadAll(c)
	if n, ok := err.(net.Error); ok && n.Timeout() {
		t.Errorf("the connection was still open after %v", soon)
	}
	return string(b)
}

// stays fails the test if the peer closes the connection within a while.
func stays(t testing.TB, c net.Conn, while time.Duration) {
	t.Helper()
	c.SetReadDeadline(time.Now().Add(while))
	_, err := io.Copy(io.Discard, c)
	if n, ok := err.(net.Error); !ok || !n.Timeout() {
		t.Errorf("the connection was closed: %v", err)
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

func status(text string) string {
	first, _, _ := strings.Cut(text, "\r\n")
	return strings.TrimPrefix(first, "HTTP/1.1 ")
}
