package gateway_test

import (
	"net"
	"syscall"
	"testing"
	"time"

	"github.com/spillway-dev/spillway/policy/reason"
)

// unreachable is the address of a service that is there and takes no connection:
// the kernel drops who knocks, as a network does that loses packets.
func unreachable(t testing.TB) string {
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { syscall.Close(fd) })
	if err := syscall.Bind(fd, &syscall.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Listen(fd, 0); err != nil {
		t.Fatal(err)
	}
	at, err := syscall.Getsockname(fd)
	if err != nil {
		t.Fatal(err)
	}
	to := net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: at.(*syscall.SockaddrInet4).Port}
	for range 16 { // until its queue is full
		c, err := net.DialTimeout("tcp", to.String(), 50*time.Millisecond)
		if err != nil {
			return "http://" + to.String()
		}
		t.Cleanup(func() { c.Close() })
	}
	t.Skip("this kernel's queue of connections has no end")
	return ""
}

// The time that a call may take includes that for the connection.
func TestTheTimeToConnectIsTheCallsToo(t *testing.T) {
	at := unreachable(t)
	h := startAt(t, at, "  all: { slots: 1, deadline: 1m, call: { timeout: 50ms } }")
	want(t, h.get("/"), 504, "timeout", "refusal")
	until(t, "the slot is free", func() bool { return h.state("all").Used == 0 })
	if n := h.state("all").Tally.Answered[reason.Timeout]; n != 1 {
		t.Errorf("%d timed out, want 1", n)
	}
}
