package edge_test

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"testing"
	"time"

	"github.com/spillway-dev/spillway/gateway/edge"
)

// soon is an order of magnitude more than what happens at once takes.
const soon = 10 * time.Second

func listen(t *testing.T, caps *edge.Caps, o edge.Options) net.Listener {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	w := edge.Wrap(l, caps, o)
	t.Cleanup(func() { w.Close() })
	return w
}

func dial(t *testing.T, l net.Listener) net.Conn {
	t.Helper()
	c, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	c.SetDeadline(time.Now().Add(soon))
	return c
}

func accept(t *testing.T, l net.Listener) net.Conn {
	t.Helper()
	c, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	c.SetDeadline(time.Now().Add(soon))
	return c
}

func closedByPeer(t *testing.T, c net.Conn) {
	t.Helper()
	if _, err := c.Read(make([]byte, 1)); err == nil || errors.Is(err, errTimeout{}) {
		t.Errorf("the connection is open: %v", err)
	}
}

type errTimeout struct{}

func (errTimeout) Error() string { return "timeout" }

func (errTimeout) Is(err error) bool {
	n, ok := err.(net.Error)
	return ok && n.Timeout()
}

// One address beyond its bound is turned away, in total everybody is; a place is
// free again when a connection is closed, however often it is.
func TestCaps(t *testing.T) {
	caps := edge.NewCaps(2, 1)
	l := listen(t, caps, edge.Options{Proxies: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}})
	from := func(address string) net.Conn {
		c := dial(t, l)
		fmt.Fprintf(c, "PROXY TCP4 %s 127.0.0.1 1000 80\r\n", address)
		return c
	}
	from("192.0.2.1")
	first := accept(t, l)
	closedByPeer(t, from("192.0.2.1"))
	from("192.0.2.2")
	accept(t, l)
	closedByPeer(t, from("192.0.2.3"))
	if caps.Open() != 2 || caps.RefusedAddress.Load() != 1 || caps.RefusedTotal.Load() != 1 {
		t.Errorf("open %d, refused by address %d, in total %d; want 2, 1, 1", caps.Open(), caps.RefusedAddress.Load(), caps.RefusedTotal.Load())
	}
	first.Close()
	first.Close()
	if caps.Open() != 1 {
		t.Errorf("open %d after one was closed twice; want 1", caps.Open())
	}
	from("192.0.2.1")
	accept(t, l)
}

func TestProxyProtocol(t *testing.T) {
	v2 := "\r\n\r\n\x00\r\nQUIT\n\x21\x11\x00\x0c" + "\xc0\x00\x02\x09" + "\x7f\x00\x00\x01" + "\x10\x00" + "\x00\x50"
	local := "\r\n\r\n\x00\r\nQUIT\n\x20\x00\x00\x00"
	for _, tt := range []struct {
		name, trusted, send string
		remote              string // "": the connection's own; "closed": closed
		rest                string
	}{
		{"version 1", "127.0.0.0/8", "PROXY TCP4 192.0.2.9 127.0.0.1 4096 80\r\nGET", "192.0.2.9:4096", "GET"},
		{"version 1, IPv6", "127.0.0.0/8", "PROXY TCP6 2001:db8::9 ::1 4096 80\r\nGET", "[2001:db8::9]:4096", "GET"},
		{"version 2", "127.0.0.0/8", v2 + "GET", "192.0.2.9:4096", "GET"},
		{"the balancer's own check", "127.0.0.0/8", local + "GET", "", "GET"},
		{"unknown", "127.0.0.0/8", "PROXY UNKNOWN\r\nGET", "", "GET"},
		{"none from where one must come", "127.0.0.0/8", "GET / HTTP/1.1\r\nHost: x\r\n\r\n", "closed", ""},
		{"a malformed one", "127.0.0.0/8", "PROXY TCP4 x y z\r\n\r\n", "closed", ""},
		{"an endless one", "127.0.0.0/8", "PROXY TCP4 " + string(make([]byte, 4000)), "closed", ""},
		{"from elsewhere it is not believed", "10.0.0.0/8", "PROXY TCP4 192.0.2.9 127.0.0.1 4096 80\r\nGET", "", "PROXY"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			caps := edge.NewCaps(10, 10)
			l := listen(t, caps, edge.Options{Proxies: []netip.Prefix{netip.MustParsePrefix(tt.trusted)}})
			c := dial(t, l)
			io.WriteString(c, tt.send)
			if tt.remote == "closed" {
				closedByPeer(t, c)
				if caps.Open() != 0 {
					t.Errorf("%d are counted as open", caps.Open())
				}
				return
			}
			got := accept(t, l)
			want := tt.remote
			if want == "" {
				want = c.LocalAddr().String()
			}
			if got.RemoteAddr().String() != want {
				t.Errorf("the caller is %s, want %s", got.RemoteAddr(), want)
			}
			b := make([]byte, len(tt.rest))
			if _, err := io.ReadFull(bufio.NewReader(got), b); err != nil || string(b) != tt.rest {
				t.Errorf("read %q, %v; want %q", b, err, tt.rest)
			}
		})
	}
}

// A header that does not come holds up nobody else.
func TestProxyHeadersAreWaitedForSideBySide(t *testing.T) {
	l := listen(t, nil, edge.Options{Proxies: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}})
	silent := dial(t, l)
	io.WriteString(dial(t, l), "PROXY UNKNOWN\r\n")
	accept(t, l)
	silent.Close() // or Close waits for it
	l.Close()
	if _, err := l.Accept(); !errors.Is(err, net.ErrClosed) {
		t.Errorf("accept after close: %v", err)
	}
}

// A caller who does not read is cut; one who reads slowly but reads is not.
func TestStalledWrite(t *testing.T) {
	l := listen(t, nil, edge.Options{WriteStall: 50 * time.Millisecond})
	dial(t, l) // never reads
	c := accept(t, l)
	_, err := c.Write(make([]byte, 64<<20))
	if n, ok := err.(net.Error); !ok || !n.Timeout() {
		t.Errorf("writing to a caller that does not read: %v", err)
	}

	// A deadline that somebody asks for is kept, in either order.
	dial(t, l)
	c = accept(t, l)
	c.SetWriteDeadline(time.Unix(1, 0))
	if _, err := c.Write([]byte("x")); err == nil {
		t.Error("a deadline in the past was overridden")
	}
	c.SetWriteDeadline(time.Time{})
	if _, err := c.Write([]byte("x")); err != nil {
		t.Errorf("after the deadline was lifted: %v", err)
	}
}
