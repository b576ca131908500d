package caller

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"syscall"
)

// broken reports whether an error says that a connection or the time for an answer
// ended before the answer did.
func broken(err error) bool {
	for _, target := range []error{
		context.DeadlineExceeded, os.ErrDeadlineExceeded, io.EOF, io.ErrUnexpectedEOF, io.ErrClosedPipe, net.ErrClosed,
		syscall.ECONNRESET, syscall.EPIPE, syscall.ECONNABORTED,
	} {
		if errors.Is(err, target) {
			return true
		}
	}
	timeout, ok := errors.AsType[net.Error](err)
	return ok && timeout.Timeout()
}
