package wire

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"runtime"
	"testing"
	"testing/synctest"
	"time"
)

// Drain closes what is idle and makes each answer the last of its connection.
func TestDrain(t *testing.T) {
	asked, go1 := make(chan struct{}), make(chan struct{})
	b := serveBoth(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/slow" {
			close(asked)
			<-go1
		}
	})
	resting, rbr := b.dial(t)
	io.WriteString(resting, "GET / HTTP/1.1\r\nHost: x\r\n\r\n")
	readAnswer(t, rbr, "GET")
	working, wbr := b.dial(t)
	io.WriteString(working, "GET /slow HTTP/1.1\r\nHost: x\r\n\r\n")
	<-asked
	ended := make(chan struct{})
	go func() { b.Shutdown(context.Background()); close(ended) }()
	if _, err := rbr.ReadByte(); err != io.EOF {
		t.Errorf("the idle connection: %v", err)
	}
	for !b.draining.Load() {
		runtime.Gosched()
	}
	close(go1)
	if res, _ := readAnswer(t, wbr, "GET"); !res.Close {
		t.Error("the last answer does not say that it is")
	}
	if _, err := wbr.ReadByte(); err != io.EOF {
		t.Errorf("the connection goes on: %v", err)
	}
	<-ended
}

// Whose connection is older than the draining, and who has not said anything yet,
// is answered.
func TestDrainingAnswersWhoHasJustConnected(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, l := quiet(), make(piped)
		served := make(chan error, 1)
		go func() { served <- s.Serve(l) }()
		c := l.dial()
		synctest.Wait() // it is accepted, and the server waits for its word
		s.Drain()
		if _, err := io.WriteString(c, "GET / HTTP/1.1\r\nHost: x\r\n\r\n"); err != nil {
			t.Fatal(err)
		}
		if res, _ := readAnswer(t, bufio.NewReader(c), "GET"); !res.Close {
			t.Error("the answer does not say that it is the last")
		}
		l.Close()
		if err := <-served; err != nil {
			t.Error(err)
		}
	})
}

// When the time to drain is over, what still runs is told, and waited for.
func TestShutdownTellsHandlers(t *testing.T) {
	asked, told := make(chan struct{}), make(chan struct{})
	b := serveBoth(t, func(_ http.ResponseWriter, r *http.Request) {
		close(asked)
		select {
		case <-r.Context().Done():
			close(told)
		case <-time.After(soon):
		}
	})
	c, _ := b.dial(t)
	io.WriteString(c, "GET / HTTP/1.1\r\nHost: x\r\n\r\n")
	<-asked
	ended, end := context.WithCancel(context.Background())
	end()
	b.Shutdown(ended)
	select {
	case <-told:
	default:
		t.Error("the handler was not told")
	}
	near, far := net.Pipe() // accepted just before
	defer far.Close()
	far.SetDeadline(time.Now().Add(soon))
	b.take(near)
	if _, err := far.Read(make([]byte, 1)); err != io.EOF {
		t.Errorf("a connection that came too late: %v", err)
	}
}

// A connection's time begins when it is accepted, however long the server has been
// at work, and whether or not its goroutine has run yet.
func TestAConnectionsTimeBeginsWhenItIsAccepted(t *testing.T) {
	s := &Server{
		Fresh: soon, conns: make(map[*conn]struct{}),
		Watch:       func(net.Conn, func()) (func(), bool) { return func() {}, true },
		ConnContext: func(ctx context.Context, _ net.Conn) context.Context { return ctx },
	}
	s.tick.Store(1000)
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	near, far := net.Pipe()
	defer s.all.Wait()
	defer far.Close()
	s.take(near)
	s.closeThose(s.late)
	s.mu.Lock()
	defer s.mu.Unlock()
	for c := range s.conns {
		if st, _ := stateOf(c.now.Load()); st == closed {
			t.Error("it was closed at once")
		}
	}
}

// Whoever is to be closed is closed, also while it goes over from one state to
// another: a stream that writes all the time would else outlive the time to drain.
func TestNobodyEscapesBeingClosed(t *testing.T) {
	for range 2000 {
		s := &Server{conns: make(map[*conn]struct{})}
		near, far := net.Pipe()
		defer far.Close()
		c := &conn{server: s, Conn: near}
		s.conns[c] = struct{}{}
		begun, ended := make(chan struct{}), make(chan struct{})
		go func() {
			defer close(ended)
			close(begun)
			for c.turn(writing) && c.turn(busy) {
			}
		}()
		<-begun
		s.closeThose(func(state, int64) bool { return true })
		if st, _ := stateOf(c.now.Swap(pack(closed, 0))); st != closed {
			t.Errorf("it goes on in state %d", st)
		}
		<-ended
	}
}
