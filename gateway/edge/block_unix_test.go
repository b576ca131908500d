//go:build unix

package edge_test

import (
	"context"
	"net"
	"os"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/spillway-dev/spillway/gateway/edge"
)

// A socket does not begin to block because it is handed on: whoever accepts on it here
// would wait for what the other process takes, and could not be stopped.
func TestASocketThatIsHandedOnDoesNotBlock(t *testing.T) {
	t.Setenv("EDGE_TEST_CHILD", "silent")
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	s := sockets(t)
	l, err := s.Listen(edge.Address{Network: "tcp", Name: "127.0.0.1:0"}, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if _, err := s.Succeed(ctx, os.Args[0], nil, func() []byte { return nil }); err != nil {
		t.Fatal(err)
	}
	raw, err := l.(*net.TCPListener).SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	err = raw.Control(func(fd uintptr) {
		if flags, err := unix.FcntlInt(fd, syscall.F_GETFL, 0); err != nil || flags&syscall.O_NONBLOCK == 0 {
			t.Errorf("flags %#x, %v: it blocks", flags, err)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
}
