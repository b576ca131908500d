package load_test

import (
	"bufio"
	"io"
	"net"
	"sync"
	"testing"
)

// rawServer calls serve for each connection, then closes it. It ends with the
// test, all of its goroutines gone.
func rawServer(t *testing.T, serve func(net.Conn)) (address string) {
	l := must(net.Listen("tcp", "127.0.0.1:0"))
	var running sync.WaitGroup
	running.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			running.Go(func() {
				defer c.Close()
				serve(c)
			})
		}
	})
	t.Cleanup(func() {
		l.Close()
		running.Wait()
	})
	return l.Addr().String()
}

func newReader(r io.Reader) *bufio.Reader { return bufio.NewReader(r) }
