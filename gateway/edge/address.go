package edge

import (
	"fmt"
	"net"
	"strings"
)

// Address is where a listener listens.
type Address struct {
	// Network is "tcp", "unix" or "fd".
	Network string
	// Name is host:port, the path of a socket, or what systemd calls one.
	Name string
}

// ParseAddress reads host:port, unix:/path and fd:name.
func ParseAddress(text string) (Address, error) {
	if path, ok := strings.CutPrefix(text, "unix:"); ok {
		if !strings.HasPrefix(path, "/") {
			return Address{}, fmt.Errorf("%q: write the path of a socket from the root, as in unix:/run/spillway/front.sock", text)
		}
		return Address{"unix", path}, nil
	}
	if name, ok := strings.CutPrefix(text, "fd:"); ok {
		if name == "" {
			return Address{}, fmt.Errorf("%q: name the socket, as in fd:http", text)
		}
		return Address{"fd", name}, nil
	}
	if _, _, err := net.SplitHostPort(text); err != nil {
		return Address{}, fmt.Errorf("%q: write an address with a port, as in :8080 or 127.0.0.1:9900, unix:/path or fd:name", text)
	}
	return Address{"tcp", text}, nil
}

// String is the form that ParseAddress reads.
func (a Address) String() string {
	if a.Network == "tcp" {
		return a.Name
	}
	return a.Network + ":" + a.Name
}

// Loopback reports whether only this machine can reach a listener's address: TCP
// on loopback, and every unix socket.
func Loopback(a net.Addr) bool {
	switch a := a.(type) {
	case *net.TCPAddr:
		return a.IP.IsLoopback()
	case *net.UnixAddr:
		return true
	}
	return false
}
