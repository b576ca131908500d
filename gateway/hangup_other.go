//go:build !linux

package gateway

import "net"

// hangups watches nothing where the kernel has no epoll. A caller that hangs up
// while its body is unread is then noticed when the body is read or the answer
// is written; one without a body, and one over HTTP/2, at once as everywhere.
type hangups struct{}

func newHangups() *hangups { return new(hangups) }

func (*hangups) watch(net.Conn, func()) (stop func()) { return func() {} }

func (*hangups) watchConn(net.Conn, func()) (stop func(), ok bool) { return nil, false }

func (*hangups) close() {}
