package decision

import (
	"runtime"
	"sync/atomic"
	"testing"
)

// BenchmarkCores is what the machine itself takes to bring a line of memory from one
// core to the other: what everything shared pays whenever it changes hands. It is some
// 25 ns where the two share a cache, and 200 where they are on two sockets, which a
// virtual machine does not tell.
func BenchmarkCores(b *testing.B) {
	if runtime.GOMAXPROCS(0) < 2 {
		b.Skip("there is one core")
	}
	var line struct {
		_     [128]byte
		ball  atomic.Int64
		_     [128]byte
		ended chan struct{}
	}
	line.ended = make(chan struct{})
	n := int64(b.N)
	b.ResetTimer()
	go func() {
		defer close(line.ended)
		for i := int64(1); i < n; i += 2 {
			for line.ball.Load() != i {
			}
			line.ball.Store(i + 1)
		}
	}()
	for i := int64(0); i < n; i += 2 {
		for line.ball.Load() != i {
		}
		line.ball.Store(i + 1)
	}
	<-line.ended
}
