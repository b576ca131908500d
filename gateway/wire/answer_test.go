package wire

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// upstream is a pool whose connections are answered with text, byte for byte, and
// then closed if the text says nothing else.
func upstream(t testing.TB, text string) *Pool {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			bufio.NewReader(c).ReadString('\n')
			io.WriteString(c, text)
			c.Close()
		}
	}()
	p := poolTo(l.Addr().String())
	t.Cleanup(func() { l.Close(); <-done; p.Close() })
	return p
}

func poolTo(addr string) *Pool {
	return &Pool{
		Dial:     func(ctx context.Context) (net.Conn, error) { return new(net.Dialer).DialContext(ctx, "tcp", addr) },
		IdleMost: 8, IdleFor: time.Minute,
	}
}

// taken is all that comes of a call.
type taken struct {
	status  int
	header  http.Header
	body    string
	trailer http.Header
	err     bool // there is no answer, or it broke off
	again   bool // the connection can be used again
}

func take1(t testing.TB, p *Pool, method string) (got taken) {
	t.Helper()
	c, err := p.Connect(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	c.Send([]byte(method + " / HTTP/1.1\r\nHost: x\r\n\r\n"))
	for got.status < 200 {
		if c.Await() != nil {
			return taken{err: true}
		}
		a, err := c.Answer(method)
		if err != nil {
			return taken{err: true}
		}
		got.status, got.header = a.Status, make(http.Header)
		for _, f := range a.Fields {
			got.header.Add(f.Name, f.Value)
		}
	}
	var body bytes.Buffer
	if c.Chunked() {
		_, err = io.Copy(&body, c)
	} else {
		for err == nil {
			var b []byte
			b, err = c.Next()
			body.Write(b)
		}
		if err == io.EOF {
			err = nil
		}
	}
	got.body, got.err = body.String(), err != nil
	for _, f := range c.Trailer() {
		if got.trailer == nil {
			got.trailer = make(http.Header)
		}
		got.trailer.Add(f.Name, f.Value)
	}
	got.again = err == nil && c.ended && c.keep && c.br.Buffered() == 0
	return got
}

// Where an answer ends (RFC 9112, 6.3), and what is no answer.
func TestAnswers(t *testing.T) {
	const ok = "HTTP/1.1 200 OK\r\n"
	h := func(kv ...string) http.Header {
		m := make(http.Header)
		for i := 0; i < len(kv); i += 2 {
			m.Add(kv[i], kv[i+1])
		}
		return m
	}
	for _, c := range []struct {
		name, method, text string
		want               taken
	}{
		{"a length", "GET", ok + "Content-Length: 2\r\n\r\nab", taken{status: 200, header: h("Content-Length", "2"), body: "ab", again: true}},
		{"a length of none", "GET", ok + "Content-Length: 0\r\n\r\n", taken{status: 200, header: h("Content-Length", "0"), again: true}},
		{"the same length twice", "GET", ok + "Content-Length: 1\r\nContent-Length: 1\r\n\r\na", taken{status: 200, header: h("Content-Length", "1", "Content-Length", "1"), body: "a", again: true}},
		{"chunks", "GET", ok + "Transfer-Encoding: chunked\r\n\r\n1\r\na\r\n2;x=y\r\nbc\r\n0\r\n\r\n", taken{status: 200, header: h("Transfer-Encoding", "chunked"), body: "abc", again: true}},
		{"chunks and a trailer", "GET", ok + "Transfer-Encoding: chunked\r\n\r\n0\r\nA: b\r\nContent-Length: 9\r\n\r\n", taken{status: 200, header: h("Transfer-Encoding", "chunked"), trailer: h("A", "b"), again: true}},
		{"until the end", "GET", ok + "\r\nab", taken{status: 200, header: h(), body: "ab"}},
		{"an old server", "GET", "HTTP/1.0 200 OK\r\n\r\nab", taken{status: 200, header: h(), body: "ab"}},
		{"no words", "GET", "HTTP/1.1 204\r\n\r\n", taken{status: 204, header: h(), again: true}},
		{"HEAD with a length", "HEAD", ok + "Content-Length: 7\r\n\r\n", taken{status: 200, header: h("Content-Length", "7"), again: true}},
		{"not modified with a length", "GET", "HTTP/1.1 304 Not Modified\r\nContent-Length: 7\r\n\r\n", taken{status: 304, header: h("Content-Length", "7"), again: true}},
		{"the last of its connection", "GET", ok + "Connection: close\r\nContent-Length: 1\r\n\r\na", taken{status: 200, header: h("Connection", "close", "Content-Length", "1"), body: "a"}},
		{"hints before", "GET", "HTTP/1.1 103 Early Hints\r\nLink: a\r\n\r\n" + ok + "Content-Length: 1\r\n\r\na", taken{status: 200, header: h("Content-Length", "1"), body: "a", again: true}},
		{"more than was announced", "GET", ok + "Content-Length: 1\r\n\r\nab", taken{status: 200, header: h("Content-Length", "1"), body: "a"}},
		{"lines that end in LF alone", "GET", "HTTP/1.1 200 OK\nContent-Length: 1\n\na", taken{status: 200, header: h("Content-Length", "1"), body: "a"}},
		{"a folded line", "GET", ok + "A: b\r\n c\r\nContent-Length: 1\r\n\r\na", taken{status: 200, header: h("A", "b c", "Content-Length", "1"), body: "a"}},
		{"a header larger than a buffer", "GET", ok + "A: " + strings.Repeat("b", 2*answerRead) + "\r\nContent-Length: 1\r\n\r\na", taken{status: 200, header: h("A", strings.Repeat("b", 2*answerRead), "Content-Length", "1"), body: "a"}},
		{"a large body behind a header of many lines", "GET", ok + strings.Repeat("A: b\r\n", fieldsMost+1) + "\r\n" + strings.Repeat("c", 2*answerHead), taken{status: 200, header: h(slices.Repeat([]string{"A", "b"}, fieldsMost+1)...), body: strings.Repeat("c", 2*answerHead)}},
		{"chunks and a length besides", "GET", ok + "Content-Length: 9\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\n\r\n", taken{status: 200, header: h("Content-Length", "9", "Transfer-Encoding", "chunked"), body: "a"}},
		{"an endless header", "GET", ok + "A: " + strings.Repeat("b", 2*answerHead) + "\r\n\r\n", taken{err: true}},

		{"nothing", "GET", "", taken{err: true}},
		{"half a header", "GET", ok, taken{err: true}},
		{"half a body", "GET", ok + "Content-Length: 2\r\n\r\na", taken{status: 200, header: h("Content-Length", "2"), body: "a", err: true}},
		{"half a chunk", "GET", ok + "Transfer-Encoding: chunked\r\n\r\n2\r\na", taken{status: 200, header: h("Transfer-Encoding", "chunked"), body: "a", err: true}},
		{"no last chunk", "GET", ok + "Transfer-Encoding: chunked\r\n\r\n1\r\na\r\n", taken{status: 200, header: h("Transfer-Encoding", "chunked"), body: "a", err: true}},
		{"half a trailer", "GET", ok + "Transfer-Encoding: chunked\r\n\r\n0\r\nA: b\r\n", taken{status: 200, header: h("Transfer-Encoding", "chunked"), trailer: h("A", "b"), err: true}},
		{"two lengths", "GET", ok + "Content-Length: 1\r\nContent-Length: 2\r\n\r\nab", taken{err: true}},
		{"a length with a sign", "GET", ok + "Content-Length: +1\r\n\r\na", taken{err: true}},
		{"another coding", "GET", ok + "Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n", taken{err: true}},
		{"another protocol that nobody asked for", "GET", "HTTP/1.1 101 Switching Protocols\r\n\r\n", taken{err: true}},
		{"something else", "GET", "SSH-2.0-OpenSSH_9.2\r\n\r\n", taken{err: true}},
		{"a zero byte in a value", "GET", ok + "A: \x00\r\nContent-Length: 1\r\n\r\na", taken{err: true}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := take1(t, upstream(t, c.text), c.method); !reflect.DeepEqual(got, c.want) {
				t.Errorf("came to\n%+.300v\nwant\n%+.300v", got, c.want)
			}
		})
	}
}

// bytesConn is a connection from which bytes are read.
type bytesConn struct {
	net.Conn
	io.Reader
}

func (c bytesConn) Read(p []byte) (int, error) { return c.Reader.Read(p) }
func (bytesConn) Close() error                 { return nil }

// An answer is what net/http takes it for, or none.
func FuzzAnswer(f *testing.F) {
	f.Add("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nab")
	f.Add("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\nA: b\r\n\r\n")
	f.Add("HTTP/1.0 404 Not Found\nA: b\n\nab")
	f.Fuzz(func(t *testing.T, text string) {
		p := &Pool{IdleMost: 1, IdleFor: time.Minute, Dial: func(context.Context) (net.Conn, error) {
			return bytesConn{Reader: strings.NewReader(text)}, nil
		}}
		defer p.Close()
		c, _ := p.Connect(context.Background())
		defer c.Close()
		if c.Await() != nil {
			return
		}
		a, err := c.Answer("GET")
		if err != nil || a.Status < 200 {
			return
		}
		want, err := http.ReadResponse(bufio.NewReader(strings.NewReader(text)), &http.Request{Method: "GET"})
		if err != nil {
			t.Fatalf("net/http refuses it: %v", err)
		}
		got, gotErr := io.ReadAll(c)
		body, wantErr := io.ReadAll(want.Body)
		if a.Status != want.StatusCode || !bytes.Equal(got, body) {
			t.Fatalf("%d %q, want %d %q", a.Status, got, want.StatusCode, body)
		}
		if gotErr == nil && wantErr != nil {
			t.Fatalf("net/http takes the body for broken: %v", wantErr)
		}
	})
}

// Waiting can be interrupted, and gone on with by somebody else, at whatever point
// of the answer's header: nothing of it is lost.
func TestInterruption(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	parts, sent := make(chan string), make(chan struct{})
	go func() {
		c, err := l.Accept()
		if err != nil {
			return
		}
		defer c.Close()
		for part := range parts {
			io.WriteString(c, part)
			sent <- struct{}{}
		}
	}()
	p := poolTo(l.Addr().String())
	defer p.Close()
	c, err := p.Connect(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{"", "HTTP/1.1 2", "00 OK\r\nContent-", "Length: 2\r\n"} {
		parts <- part
		<-sent
		ended := make(chan error)
		go func() { ended <- c.Await() }()
		c.Interrupt()
		if err := <-ended; !errors.Is(err, ErrInterrupted) {
			t.Fatalf("after %q: %v", part, err)
		}
		c.Resume()
	}
	parts <- "\r\nab"
	<-sent
	if err := c.Await(); err != nil {
		t.Fatal(err)
	}
	if a, err := c.Answer("GET"); err != nil || a.Status != 200 || a.Length != 2 {
		t.Fatalf("%+v, %v", a, err)
	}
	if b, err := io.ReadAll(c); string(b) != "ab" || err != nil {
		t.Fatalf("%q, %v", b, err)
	}
	c.Close()
	if p.Idle() != c {
		t.Error("the connection was not kept")
	}
	c.Cut()
	close(parts)
}

// What is interrupted halfway through a request, or through a header that is left
// to net/http, cannot be gone on with: it is over.
func TestInterruptionThatEndsTheCall(t *testing.T) {
	for name, begin := range map[string]func(c *Conn, far net.Conn) error{
		"a request that is not taken": func(c *Conn, far net.Conn) error {
			go func() {
				far.Read(make([]byte, 1))
				c.Interrupt()
			}()
			return c.Send([]byte("GET / HTTP/1.1\r\nHost: x\r\n\r\n"))
		},
		"half a long header": func(c *Conn, far net.Conn) error {
			go func() {
				io.WriteString(far, "HTTP/1.1 200 OK\r\nA: "+strings.Repeat("b", answerRead))
				c.Interrupt()
			}()
			if err := c.Await(); err != nil {
				return err
			}
			_, err := c.Answer("GET")
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			near, far := net.Pipe()
			defer far.Close()
			c := newConn(near, new(Pool))
			time.AfterFunc(soon, func() { near.Close() })
			if err := begin(c, far); err != ErrInterrupted {
				t.Fatal(err)
			}
			c.Resume()
			if err := c.Await(); err == nil || !c.closed.Load() {
				t.Errorf("it goes on: %v", err)
			}
		})
	}
}

// A connection that the upstream has closed, or on which it has said something
// that nobody asked for, is not used again.
func TestIdleConnectionsThatAreNoMoreUse(t *testing.T) {
	for name, last := range map[string]string{"closed": "", "spoke": "HTTP/1.1 408 Request Timeout\r\n\r\n"} {
		t.Run(name, func(t *testing.T) {
			p := upstream(t, "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\na"+last)
			c, err := p.Connect(context.Background())
			if err != nil {
				t.Fatal(err)
			}
			c.Send([]byte("GET / HTTP/1.1\r\nHost: x\r\n\r\n"))
			if err := c.Await(); err != nil {
				t.Fatal(err)
			}
			if _, err := c.Answer("GET"); err != nil {
				t.Fatal(err)
			}
			io.ReadAll(c)
			c.keep = true
			p.put(c)
			for p.Idle() != nil { // until its end has come over
				p.put(c)
			}
		})
	}
}

// The pool keeps no more than it may, for no longer than it may, and what is used
// last is used first.
func TestPoolBounds(t *testing.T) {
	p := &Pool{IdleMost: 2, IdleFor: time.Hour, Dial: func(context.Context) (net.Conn, error) {
		return bytesConn{Reader: strings.NewReader("")}, nil
	}}
	var all []*Conn
	for range 3 {
		c, _ := p.Connect(context.Background())
		all = append(all, c)
	}
	for _, c := range all {
		p.put(c)
	}
	if got := p.Idle(); got != all[1] {
		t.Error("the one used last is not the next")
	}
	if got := p.Idle(); got != all[0] {
		t.Error("the one before is not the one after")
	}
	if p.Idle() != nil {
		t.Error("more are kept than may be")
	}
	p.put(all[0])
	all[0].rested = all[0].rested.Add(-2 * time.Hour)
	p.put(all[1])
	p.closeOld()
	if got := p.Idle(); got != all[1] || p.Idle() != nil {
		t.Error("old ones are kept")
	}
	p.Close()
	p.put(all[1])
	if p.Idle() != nil {
		t.Error("a closed pool keeps connections")
	}
}
