package httpgate_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/spillway-dev/spillway/gate/httpgate"
	"github.com/spillway-dev/spillway/policy/reason"
)

// countingReader counts what is read, by whatever goroutine.
type countingReader struct {
	io.Reader
	n atomic.Int64
}

func (r *countingReader) Read(b []byte) (int, error) {
	n, err := r.Reader.Read(b)
	r.n.Add(int64(n))
	return n, err
}

func (r *countingReader) read() int64 { return r.n.Load() }

// abilities lists what a handler can find out about its writer by asking.
func abilities(w http.ResponseWriter) []string {
	var found []string
	note := func(name string, ok bool) { found = append(found, fmt.Sprintf("%s=%v", name, ok)) }
	_, ok := w.(http.Flusher)
	note("Flusher", ok)
	_, ok = w.(interface{ FlushError() error })
	note("FlushError", ok)
	_, ok = w.(http.Hijacker)
	note("Hijacker", ok)
	_, ok = w.(http.Pusher)
	note("Pusher", ok)
	_, ok = w.(io.ReaderFrom)
	note("ReaderFrom", ok)
	_, ok = w.(io.StringWriter)
	note("StringWriter", ok)
	_, ok = w.(interface{ Unwrap() http.ResponseWriter })
	note("Unwrap", ok)
	c := http.NewResponseController(w)
	note("EnableFullDuplex", c.EnableFullDuplex() == nil)
	note("SetReadDeadline", c.SetReadDeadline(time.Now().Add(time.Hour)) == nil)
	note("SetWriteDeadline", c.SetWriteDeadline(time.Now().Add(time.Hour)) == nil)
	note("Flush", c.Flush() == nil)
	return found
}

// What a handler's writer can do is the same with and without the middleware.
func TestAbilities(t *testing.T) {
	protocols(t, func(t *testing.T, serve func(http.Handler) *server) {
		tell := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			fmt.Fprint(w, strings.Join(abilities(w), " "))
		})
		_, without := serve(tell).get(t.Context(), t)
		_, with := serve(httpgate.Middleware(open(t, full()))(tell)).get(t.Context(), t)
		if with != without {
			t.Errorf("without: %s\nwith:    %s", without, with)
		}
	})
}

// Every mixture of abilities that some other middleware's writer may have.
func TestAbilitiesOfOtherWriters(t *testing.T) {
	type (
		plain struct{ http.ResponseWriter }
		f     interface{ http.Flusher }
		h     interface{ http.Hijacker }
		p     interface{ http.Pusher }
		r     interface{ io.ReaderFrom }
	)
	ask := func(w http.ResponseWriter) []bool {
		_, isF := w.(f)
		_, isH := w.(h)
		_, isP := w.(p)
		_, isR := w.(r)
		return []bool{isF, isH, isP, isR}
	}
	base := plain{discard{}}
	writers := []http.ResponseWriter{
		base,
		struct {
			plain
			f
		}{plain: base}, struct {
			plain
			h
		}{plain: base}, struct {
			plain
			p
		}{plain: base}, struct {
			plain
			r
		}{plain: base},
		struct {
			plain
			f
			h
		}{plain: base}, struct {
			plain
			f
			p
		}{plain: base}, struct {
			plain
			f
			r
		}{plain: base},
		struct {
			plain
			h
			p
		}{plain: base}, struct {
			plain
			h
			r
		}{plain: base}, struct {
			plain
			p
			r
		}{plain: base},
		struct {
			plain
			f
			h
			p
		}{plain: base}, struct {
			plain
			f
			h
			r
		}{plain: base}, struct {
			plain
			f
			p
			r
		}{plain: base}, struct {
			plain
			h
			p
			r
		}{plain: base},
		struct {
			plain
			f
			h
			p
			r
		}{plain: base},
	}
	protect := httpgate.Middleware(open(t, full()))
	for _, w := range writers {
		protect(http.HandlerFunc(func(shown http.ResponseWriter, _ *http.Request) {
			if got, want := ask(shown), ask(w); !slices.Equal(got, want) {
				t.Errorf("flush, hijack, push, read: got %v, want %v", got, want)
			}
		})).ServeHTTP(w, &http.Request{Header: http.Header{}})
	}
}

// discard is a writer with no ability beyond the least.
type discard struct{}

func (discard) Header() http.Header         { return http.Header{} }
func (discard) Write(b []byte) (int, error) { return len(b), nil }
func (discard) WriteHeader(int)             {}

// Bytes arrive when they are flushed: nothing is kept back.
func TestNothingIsBuffered(t *testing.T) {
	protocols(t, func(t *testing.T, serve func(http.Handler) *server) {
		next := make(chan bool)
		s := serve(httpgate.Middleware(open(t, full()))(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			for i := range 5 {
				fmt.Fprintf(w, "event %d\n", i)
				if err := http.NewResponseController(w).Flush(); err != nil {
					t.Error(err)
				}
				<-next
			}
		})))
		resp, err := s.client.Get(s.URL)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		lines := bufio.NewScanner(resp.Body)
		for i := range 5 { // the handler does not go on before the event has arrived
			if !lines.Scan() || lines.Text() != fmt.Sprintf("event %d", i) {
				t.Fatalf("event %d: %q, %v", i, lines.Text(), lines.Err())
			}
			next <- true
		}
	})
}

// A hijacked connection holds its slot until it is closed, however often.
func TestHijack(t *testing.T) {
	c := full()
	c.Deadline = patience
	g := open(t, c)
	hijacked := make(chan net.Conn, 1)
	s := serve(t, "HTTP/1.1", httpgate.Middleware(g)(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer close(hijacked) // or the test would wait for ever for what has failed
		conn, _, err := w.(http.Hijacker).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		if _, ok := conn.(interface{ CloseWrite() error }); !ok {
			t.Error("a TCP connection has lost CloseWrite")
		}
		hijacked <- conn
	})))
	raw, err := net.Dial("tcp", strings.TrimPrefix(s.URL, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer raw.Close()
	fmt.Fprint(raw, "GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n")
	conn := <-hijacked
	if conn == nil {
		t.FailNow()
	}
	<-time.After(patience + patience/10) // past the deadline
	resp, _ := s.get(t.Context(), t)
	wantAnswer(t, resp, 503, reason.QueueFull)
	if st := g.States()[0]; st.Used != 1 || st.Tally.Running != 1 {
		t.Errorf("used %d, account %+v", st.Used, st.Tally)
	}
	fmt.Fprint(conn, "hello")
	var all sync.WaitGroup
	for range 10 {
		all.Go(func() { conn.Close() })
	}
	all.Wait()
	if b, err := io.ReadAll(raw); err != nil || string(b) != "hello" {
		t.Errorf("%q, %v", b, err)
	}
	if n := drained(t, g).Tally.Answered[reason.Served]; n != 1 {
		t.Errorf("%d served", n)
	}
}
