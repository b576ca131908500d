//go:build unix

package edge

import (
	"io/fs"
	"syscall"
)

func closeOnExec(fd int) { syscall.CloseOnExec(fd) }

// chmodSocket sets the mode that a socket's file will be made with.
func chmodSocket(fd uintptr, mode fs.FileMode) error {
	return syscall.Fchmod(int(fd), uint32(mode.Perm()))
}
