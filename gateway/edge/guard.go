package edge

import (
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"time"
)

// Limits is what one request, or the requests of one connection, may cost before
// anything is decided about them. A zero value bounds nothing.
type Limits struct {
	// HeaderCount is how many header fields a request may have.
	HeaderCount int
	// Body is how many bytes its body may have.
	Body int64
	// BodyGrace and BodyRate, in bytes a second, are how long it may be waited
	// for. A zero BodyRate is no bound.
	BodyGrace time.Duration
	BodyRate  int64
	// WriteStall is how long an HTTP/2 caller may keep the end of an answer
	// waiting for its window.
	WriteStall time.Duration
	// Resets is how many HTTP/2 requests a connection may break off within ten
	// seconds before it is cut, if they are more than a tenth of its requests.
	Resets int
	// PerConnection is after how many requests a connection is ended in good
	// order.
	PerConnection int64
	// DropUnderscores removes header fields with an underscore in their names.
	DropUnderscores bool
	// Protected are fields that no Connection header may have removed, besides
	// those that everybody goes by.
	Protected func(name string) bool
}

// Counts is what a guard has turned away. All of it only grows.
type Counts struct {
	HeaderCount, TooLarge, SlowBody, Resets atomic.Int64
}

// Guard stands in front of a handler.
type Guard struct {
	// Handler sees what is within the limits.
	Handler http.Handler
	// Refuse answers what is not: 400, 413 or 431.
	Refuse func(w http.ResponseWriter, r *http.Request, status int)
	// Conn returns the connection of a request, however wrapped; nil: unknown.
	Conn func(*http.Request) net.Conn
	// Held reports whether a request's body is in memory already; nil: no body is.
	Held func(*http.Request) bool
	// Ending reports whether every answer is to be the last of its connection.
	Ending func() bool

	Counts
	limits atomic.Pointer[Limits]
}

// Set changes the limits, for requests that begin from now on. It is called before
// the first.
func (g *Guard) Set(l Limits) { g.limits.Store(&l) }

// ServeHTTP implements http.Handler.
func (g *Guard) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	l := g.limits.Load()
	nominate(r.Header, l.Protected)
	noTunnel(r.Header)
	fields := count(r.Header, l.DropUnderscores)
	conn := Of(g.Conn(r))
	last := conn != nil && conn.requests.Add(1) == l.PerConnection
	if last || g.Ending() || len(r.TransferEncoding) > 0 {
		// Over HTTP/2 this is a GOAWAY. After a transfer coding, RFC 9112, section
		// 6.1, asks for it where there was a Content-Length as well, which net/http
		// does not tell.
		w.Header()["Connection"] = []string{"close"}
	}
	if conn != nil && r.ProtoMajor == 2 {
		defer g.watch(w, r, conn, l)
	}
	switch {
	case !wellFormed(r):
		g.Refuse(w, r, http.StatusBadRequest)
		return
	case l.HeaderCount > 0 && fields > l.HeaderCount:
		g.HeaderCount.Add(1)
		g.Refuse(w, r, http.StatusRequestHeaderFieldsTooLarge)
		return
	case r.ContentLength == 0 || r.Body == nil || isStream(r):
	case l.Body > 0 && r.ContentLength > l.Body:
		g.TooLarge.Add(1)
		g.Refuse(w, r, http.StatusRequestEntityTooLarge)
		return
	case g.Held != nil && g.Held(r):
	default:
		b := newBody(w, r, l)
		r.Body = b
		defer g.tally(b)
	}
	g.Handler.ServeHTTP(w, r)
}

// tally counts a body that was turned away while it was read.
func (g *Guard) tally(b *body) {
	switch b.err {
	case ErrTooLarge:
		g.TooLarge.Add(1)
	case ErrSlowBody:
		g.SlowBody.Add(1)
	}
}

// watch ends an HTTP/2 request: it cuts a connection that breaks off too many, and
// sees to it that what is left of an answer does not wait for ever for a caller
// who opens no window.
func (g *Guard) watch(w http.ResponseWriter, r *http.Request, c *Conn, l *Limits) {
	brokenOff := r.Context().Err() != nil
	if l.Resets > 0 && c.resets.over(time.Now(), brokenOff, l.Resets) {
		g.Resets.Add(1)
		c.Close()
		return
	}
	if !brokenOff && l.WriteStall > 0 {
		http.NewResponseController(w).SetWriteDeadline(time.Now().Add(l.WriteStall))
	}
}

// wellFormed reports whether a request is one in HTTP/1.1 as well: with a path, or
// the star of OPTIONS, in a request line of three words, and over HTTP/2 with one
// length that is a number if it has any. net/http takes another for no body.
func wellFormed(r *http.Request) bool {
	if r.RequestURI == "*" {
		return r.Method == http.MethodOptions
	}
	if r.Method == http.MethodConnect {
		return true // which is refused later on
	}
	if r.ProtoMajor != 2 {
		return r.URL.Opaque == "" // net/http has seen to all else
	}
	length := r.Header["Content-Length"]
	return strings.HasPrefix(r.RequestURI, "/") && !strings.Contains(r.Method+r.RequestURI, " ") &&
		(len(length) == 0 || len(length) == 1 && length[0] != "" && strings.Trim(length[0], "0123456789") == "")
}

// isStream reports whether a request's body has no end to measure.
func isStream(r *http.Request) bool {
	return r.ProtoMajor == 2 && strings.HasPrefix(r.Header.Get("Content-Type"), "application/grpc")
}
