package wire

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// look asks whether there is anything to read. unix.Recvfrom would make room for
// an address each time.
func (c *Conn) look(fd uintptr) bool {
	var b [1]byte
	_, _, errno := unix.Syscall6(unix.SYS_RECVFROM, fd, uintptr(unsafe.Pointer(&b[0])), 1, unix.MSG_PEEK|unix.MSG_DONTWAIT, 0, 0)
	c.quiet = errno == unix.EAGAIN
	return true
}
