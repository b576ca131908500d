package edge_test

import (
	"net"
	"testing"

	"github.com/spillway-dev/spillway/gateway/edge"
)

func TestParseAddress(t *testing.T) {
	for _, tt := range []struct {
		text string
		want edge.Address
	}{
		{":8080", edge.Address{Network: "tcp", Name: ":8080"}},
		{"[::1]:0", edge.Address{Network: "tcp", Name: "[::1]:0"}},
		{"unix:/run/a.sock", edge.Address{Network: "unix", Name: "/run/a.sock"}},
		{"fd:http", edge.Address{Network: "fd", Name: "http"}},
		{"unix:a.sock", edge.Address{}},
		{"unix:", edge.Address{}},
		{"fd:", edge.Address{}},
		{"8080", edge.Address{}},
		{"", edge.Address{}},
	} {
		got, err := edge.ParseAddress(tt.text)
		if got != tt.want || (err != nil) != (tt.want == edge.Address{}) {
			t.Errorf("%q: %+v, %v", tt.text, got, err)
		}
	}
}

// What is read is written the same.
func FuzzParseAddress(f *testing.F) {
	for _, s := range []string{":80", "unix:/a", "fd:x", "fd:unix:/a", "[::1]:x", "a:b:c", "unix:/\x00"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		a, err := edge.ParseAddress(s)
		if err == nil && a.String() != s {
			t.Errorf("%q is written %q", s, a)
		}
	})
}

func TestLoopback(t *testing.T) {
	for _, tt := range []struct {
		addr net.Addr
		want bool
	}{
		{&net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)}, true},
		{&net.TCPAddr{IP: net.IPv6loopback}, true},
		{&net.TCPAddr{IP: net.IPv6unspecified}, false},
		{&net.TCPAddr{IP: net.IPv4(10, 0, 0, 1)}, false},
		{&net.UnixAddr{Name: "/run/a"}, true},
	} {
		if got := edge.Loopback(tt.addr); got != tt.want {
			t.Errorf("%v: %v", tt.addr, got)
		}
	}
}
