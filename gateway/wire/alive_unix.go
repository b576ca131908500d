//go:build unix

package wire

import "golang.org/x/sys/unix"

// alive reports whether an idle connection is still open. Whatever there is to
// read on it, the end or bytes that nobody asked for, it is of no more use.
func (c *Conn) alive() bool {
	if c.br.Buffered() > 0 || c.raw == nil {
		return c.br.Buffered() == 0
	}
	c.quiet = false
	return c.raw.Read(c.peek) == nil && c.quiet
}

func (c *Conn) look(fd uintptr) bool {
	var b [1]byte
	_, _, err := unix.Recvfrom(int(fd), b[:], unix.MSG_PEEK|unix.MSG_DONTWAIT)
	c.quiet = err == unix.EAGAIN
	return true
}
