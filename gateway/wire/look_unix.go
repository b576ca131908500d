//go:build unix && !linux

package wire

import "golang.org/x/sys/unix"

func (c *Conn) look(fd uintptr) bool {
	var b [1]byte
	_, _, err := unix.Recvfrom(int(fd), b[:], unix.MSG_PEEK|unix.MSG_DONTWAIT)
	c.quiet = err == unix.EAGAIN
	return true
}
