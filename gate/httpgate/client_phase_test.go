package httpgate_test

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/spillway-dev/spillway/gate/httpgate"
	"github.com/spillway-dev/spillway/policy/reason"
)

// phases are where the first attempt breaks off, over a real connection; nil: it is
// refused. Any further attempt is answered.
var phases = []struct {
	name  string
	first func(c net.Conn, r *bufio.Reader)
	plain int32 // attempts at the service of a POST; one that may be repeated is sent again wherever there is no answer
	safe  int32
	began bool // the caller has an answer that breaks off
}{
	{"refused connection", nil, 1, 1, false},
	{"after the head", func(_ net.Conn, r *bufio.Reader) {
		for line := ""; line != "\r\n"; {
			line, _ = r.ReadString('\n')
		}
	}, 1, 2, false},
	{"after the body", func(_ net.Conn, r *bufio.Reader) { whole(r) }, 1, 2, false},
	{"after the status", func(c net.Conn, r *bufio.Reader) {
		whole(r)
		io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n")
	}, 1, 2, false},
	{"mid-body", func(c net.Conn, r *bufio.Reader) {
		whole(r)
		io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nda")
	}, 1, 1, true},
}

func whole(r *bufio.Reader) {
	if req, err := http.ReadRequest(r); err == nil {
		io.Copy(io.Discard, req.Body)
	}
}

// api-umbrella#18, better-ccflare PR#465: a POST whose connection broke was sent again while
// the first still ran, and was paid for twice. The service counts.
func TestWhereAnAttemptBrokeOff(t *testing.T) {
	for _, p := range phases {
		for _, k := range []struct {
			name, method string
			opts         []httpgate.ClientOption
			want         int32
		}{
			{"POST", "POST", nil, p.plain},
			{"POST under a key", "POST", []httpgate.ClientOption{httpgate.HonoursKeys()}, p.safe},
			{"PUT", "PUT", nil, p.safe},
		} {
			t.Run(p.name+", "+k.name, func(t *testing.T) {
				at, seen := breaking(t, p.first)
				base := &http.Transport{DisableKeepAlives: true, DialContext: at}
				client := &http.Client{Transport: httpgate.NewTransport(base, dependency(t, retries(1)), k.opts...)}
				a := do(client, request(t, k.method, "http://dep/", strings.NewReader(strings.Repeat("x", 100<<10))))
				if n := seen.Load(); n != k.want {
					t.Errorf("the service had it %d times, want %d", n, k.want)
				}
				switch answered := p.first == nil || k.want == 2; {
				case answered && (a.status != 200 || a.body != "done" || a.err != nil):
					t.Errorf("%+v, want its answer", a)
				case p.began && (a.status != 200 || a.err == nil):
					t.Errorf("%+v, want an answer that breaks off", a)
				case !answered && !p.began && !errors.Is(a.err, reason.Unknown):
					t.Errorf("%v, want unknown: it may have run", a.err)
				}
			})
		}
	}
}

// breaking is a service whose first connection ends as first does, and that answers on
// each other; it returns how to reach it, and how many requests it has had.
func breaking(t *testing.T, first func(net.Conn, *bufio.Reader)) (func(context.Context, string, string) (net.Conn, error), *atomic.Int32) {
	gone, l := listening(t), listening(t)
	gone.Close()
	seen, dialed := new(atomic.Int32), new(atomic.Int32)
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			r := bufio.NewReader(c)
			r.Peek(1)
			if seen.Add(1) == 1 && first != nil {
				first(c, r)
			} else {
				whole(r)
				io.WriteString(c, "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 4\r\n\r\ndone")
			}
			c.Close()
		}
	}()
	return func(ctx context.Context, network, _ string) (net.Conn, error) {
		to := l
		if dialed.Add(1) == 1 && first == nil {
			to = gone
		}
		return new(net.Dialer).DialContext(ctx, network, to.Addr().String())
	}, seen
}

func listening(t *testing.T) net.Listener {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l
}
