package soak_test

import (
	"io"
	"math/rand/v2"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// What the service does, and what of it goes wrong, in requests of a thousand.
const (
	slots       = 8
	serviceTime = 40 * time.Millisecond
	panics      = 10
	freezes     = 3
	breaksOff   = 10
	streams     = 10
)

// service works on slots requests at a time. Whoever comes besides waits.
type service struct {
	room   chan struct{}
	served atomic.Int64
	thaw   chan struct{} // closed at the end
	frozen sync.WaitGroup
}

func newService(t *testing.T) *service {
	s := &service{room: make(chan struct{}, slots), thaw: make(chan struct{})}
	t.Cleanup(func() { close(s.thaw); s.frozen.Wait() })
	return s
}

func (s *service) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.room <- struct{}{}
	free := sync.OnceFunc(func() { <-s.room })
	defer free()
	io.Copy(io.Discard, r.Body)
	timer := time.NewTimer(serviceTime)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-s.thaw:
	}
	switch n := rand.IntN(1000); {
	case n < panics:
		panic(http.ErrAbortHandler)
	case n < panics+freezes: // and never answers; others go on
		free()
		s.frozen.Add(1)
		defer s.frozen.Done()
		select {
		case <-r.Context().Done():
		case <-s.thaw:
		}
	case n < panics+freezes+breaksOff:
		w.Header().Set("Content-Length", "1000000")
		io.WriteString(w, "not a million")
		w.(http.Flusher).Flush()
		panic(http.ErrAbortHandler)
	case n < panics+freezes+breaksOff+streams:
		for range 5 {
			io.WriteString(w, "data: event\n\n")
			if http.NewResponseController(w).Flush() != nil {
				return
			}
		}
	}
	s.served.Add(1)
	io.WriteString(w, "served")
}
