//go:build unix

package edge

import (
	"errors"
	"io/fs"
	"net"
	"os"
	"syscall"
)

func closeOnExec(fd int) { syscall.CloseOnExec(fd) }

// pipeOf returns the end of a pipe that was passed to this process, such that reading
// it may have a deadline.
func pipeOf(fd int, name string) *os.File {
	closeOnExec(fd)
	syscall.SetNonblock(fd, true)
	return os.NewFile(uintptr(fd), name)
}

// fileOf returns a file that stands for a listener's socket beside it. The listener's
// own File would, at the moment at which it is passed to another process, have the
// socket block: whoever is about to accept then would, once the other process was
// faster, wait for a connection that this one is not meant to take, and closing the
// listener would wait for that.
func fileOf(l net.Listener) (*os.File, error) {
	c, ok := l.(syscall.Conn)
	if !ok {
		return nil, errors.New("it has no file that could be handed on")
	}
	raw, err := c.SyscallConn()
	if err != nil {
		return nil, err
	}
	var copied int
	failed := raw.Control(func(fd uintptr) {
		syscall.ForkLock.RLock() // or a process that is started right now would keep it
		defer syscall.ForkLock.RUnlock()
		if copied, err = syscall.Dup(int(fd)); err == nil {
			syscall.CloseOnExec(copied)
		}
	})
	if err := errors.Join(failed, err); err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(copied), "listener"), nil
}

// chmodSocket sets the mode that a socket's file will be made with.
func chmodSocket(fd uintptr, mode fs.FileMode) error {
	return syscall.Fchmod(int(fd), uint32(mode.Perm()))
}
