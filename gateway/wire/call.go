package wire

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"math"
	"net"
	"net/http"
	"net/http/httputil"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/spillway-dev/spillway/policy/call"
)

// Bounds of an answer.
const (
	answerRead = 16 << 10 // read at a time
	answerHead = 1 << 20  // its header, if it is no plain one
)

// fieldsAdded is how many fields may be appended to an answer's without making room
// for all of them anew.
const fieldsAdded = 4

// Conn is a connection to an upstream, which carries one call at a time: Send,
// Await until the answer's header has come, Answer, Read until io.EOF, Close. It
// is for one goroutine at a time, but for Interrupt and Cut.
type Conn struct {
	net.Conn
	pool   *Pool
	rested time.Time // when it was last put aside
	raw    syscall.RawConn
	peek   func(fd uintptr) bool
	quiet  bool // what peek found

	br     *bufio.Reader
	out    []byte
	fields []Field
	closed atomic.Bool

	// The call.
	reused  bool
	idle    time.Duration // how long it had been, before this call; 0: it is new
	began   bool          // a byte of an answer has come
	head    int           // length of the answer's header, which is in br; -1: it is not plain
	keep    bool          // the connection can be used again once the body has been read
	left    int64
	chunks  io.Reader // nil: not chunked
	body    io.Reader // of an answer that is not plain
	ended   bool
	trailer []Field

	mu          sync.Mutex
	interrupted bool
}

func newConn(c net.Conn, p *Pool) *Conn {
	k := &Conn{Conn: c, pool: p, br: bufio.NewReaderSize(c, answerRead)}
	if s, ok := c.(syscall.Conn); ok {
		k.raw, _ = s.SyscallConn()
		k.peek = k.look
	}
	return k
}

// reset makes the connection ready for another call.
func (c *Conn) reset() {
	c.reused, c.idle = true, time.Since(c.rested)
	c.began, c.head, c.keep, c.left, c.ended = false, 0, false, 0, false
	c.chunks, c.body, c.trailer = nil, nil, nil
}

// Stale reports whether the connection had been idle for so long that its
// breaking says nothing about the request, if no answer has begun.
func (c *Conn) Stale() bool { return call.Stale(c.idle, c.began) }

// Buffer returns an empty buffer in which to put together what is sent.
func (c *Conn) Buffer() []byte { return c.out[:0] }

// Send sends a request, which may be in Buffer. If it is interrupted, what was sent
// is no request, and the connection is closed.
func (c *Conn) Send(b []byte) error {
	if cap(b) <= answerRead {
		c.out = b
	}
	if _, err := c.Conn.Write(b); err != nil {
		return c.cutShort(err)
	}
	return nil
}

// cutShort returns the error of something that nobody can go on with: if it was
// interrupted, that, and the connection is closed.
func (c *Conn) cutShort(err error) error {
	if !c.wasInterrupted() {
		return err
	}
	c.Cut()
	return ErrInterrupted
}

// ErrInterrupted says that Await was interrupted.
var ErrInterrupted = errors.New("wire: interrupted")

// Await waits until an answer's header has come. If it is interrupted it may be
// called again after Resume, by anybody.
func (c *Conn) Await() error {
	for want := 1; ; want = c.br.Buffered() + 1 {
		if want > c.br.Size() {
			c.head = -1
			return nil
		}
		_, err := c.br.Peek(want)
		b, _ := c.br.Peek(c.br.Buffered())
		c.began = c.began || len(b) > 0
		if i := headEnd(b); i > 0 {
			c.head = i
			return nil
		}
		if bytes.Contains(b, []byte("\n\n")) || bytes.Contains(b, []byte("\n\r\n")) {
			c.head = -1
			return nil
		}
		switch {
		case err == nil:
		case errors.Is(err, os.ErrDeadlineExceeded) && c.wasInterrupted():
			return ErrInterrupted
		case err == io.EOF:
			return io.ErrUnexpectedEOF
		default:
			return err
		}
	}
}

// Interrupt makes Send, Await and Answer return, now or when they are next called,
// until Resume.
func (c *Conn) Interrupt() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.interrupted = true
	c.Conn.SetDeadline(longAgo)
}

// Resume ends an interruption.
func (c *Conn) Resume() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.interrupted {
		c.interrupted = false
		c.Conn.SetDeadline(time.Time{})
	}
}

func (c *Conn) wasInterrupted() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.interrupted
}

var longAgo = time.Unix(1, 0)

// Answer is the header of an answer. Its fields are valid until the Conn is
// closed.
type Answer struct {
	Status int
	Fields []Field
	Length int64 // of the body; -1: it ends where it ends
}

var errMalformed = errors.New("wire: the upstream's answer is malformed")

// Answer returns the header that Await found. After an informational one (100 to
// 199, but 101) another follows: call Await again.
func (c *Conn) Answer(method string) (Answer, error) {
	if c.head < 0 {
		return c.awkward(method)
	}
	b, _ := c.br.Peek(c.head)
	head := string(b)
	end := strings.IndexByte(head, '\r')
	status, ok := parseStatus(head[:end])
	if !ok || head[end+1] != '\n' {
		return c.awkward(method)
	}
	fields, ok := scan(head[end+2:], c.fields[:0])
	if !ok {
		return c.awkward(method)
	}
	fields = slices.Grow(fields, fieldsAdded)
	c.br.Discard(c.head)
	c.head, c.fields = 0, fields
	a := Answer{Status: status, Fields: fields}
	if status < 200 {
		if status == http.StatusSwitchingProtocols {
			return a, errMalformed // nobody asked for it
		}
		return a, nil
	}
	return a, c.measure(&a, method, head[7] == '1')
}

// parseStatus parses "HTTP/1.x 200 text".
func parseStatus(line string) (int, bool) {
	if len(line) < 12 || !clean(line) || line[:7] != "HTTP/1." || line[7] != '0' && line[7] != '1' || line[8] != ' ' || len(line) > 12 && line[12] != ' ' {
		return 0, false
	}
	n, ok := parseLength(line[9:12])
	return int(n), ok && n >= 100
}

// measure finds out where the body ends (RFC 9112, 6.3) and whether another
// answer can follow.
func (c *Conn) measure(a *Answer, method string, oneOne bool) error {
	length, chunked, closes := int64(-1), false, !oneOne
	for _, f := range a.Fields {
		switch {
		case f.Is("Content-Length"):
			n, ok := parseLength(f.Value)
			if !ok || length >= 0 && n != length {
				return errMalformed
			}
			length = n
		case f.Is("Transfer-Encoding"):
			if !strings.EqualFold(f.Value, "chunked") || chunked || !oneOne {
				return errMalformed
			}
			chunked = true
		case f.Is("Connection"):
			closes = closes || Named([]string{f.Value}, "close")
		}
	}
	c.keep = !closes && !(chunked && length >= 0) // who says both may mean either (RFC 9112, 6.1)
	switch {
	case method == http.MethodHead || a.Status == http.StatusNoContent || a.Status == http.StatusNotModified:
		length = 0
	case chunked:
		length = -1
		c.chunks = httputil.NewChunkedReader(c.br)
	case length < 0:
		c.keep = false // it ends with the connection
	}
	a.Length, c.left = length, length
	c.ended = length == 0
	return nil
}

// awkward leaves an answer that is not plain to net/http.
func (c *Conn) awkward(method string) (Answer, error) {
	bounded := &io.LimitedReader{R: c.br, N: answerHead}
	res, err := http.ReadResponse(bufio.NewReaderSize(bounded, answerRead), &http.Request{Method: method})
	switch {
	case bounded.N == 0:
		return Answer{}, errTooLong
	case err != nil:
		return Answer{}, c.cutShort(err)
	}
	bounded.N = math.MaxInt64 // it is the header's bound
	a := Answer{Status: res.StatusCode, Length: res.ContentLength}
	if a.Status < 200 {
		return a, errMalformed
	}
	for name, values := range res.Header { // order does not matter: as in net/http
		for _, v := range values {
			a.Fields = append(a.Fields, Field{name, v})
		}
	}
	c.left, c.body, c.ended = -1, res.Body, false
	return a, nil
}

var errTooLong = errors.New("wire: the answer's header is too long")
