//go:build !unix

package edge

import (
	"errors"
	"io/fs"
	"net"
	"os"
)

func closeOnExec(int) {}

func chmodSocket(uintptr, fs.FileMode) error { return nil }

func pipeOf(fd int, name string) *os.File { return os.NewFile(uintptr(fd), name) }

func fileOf(l net.Listener) (*os.File, error) {
	f, ok := l.(interface{ File() (*os.File, error) })
	if !ok {
		return nil, errors.New("it has no file that could be handed on")
	}
	return f.File()
}
