package engine

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"time"

	"github.com/spillway-dev/spillway/gateway/wire"
)

// Gateway serves a listener with what the gateway serves plain requests with: package
// wire on both sides, and the X-Forwarded headers. All that makes it a gateway is
// missing: admission first, and besides it the limits on callers, their hang-ups, the
// choice of a copy, request IDs, deadlines passed on, the account. What a request
// through the gateway costs over one through this is therefore all of that, and more
// than admission alone. It returns when the listener is closed.
func Gateway(l net.Listener, to *url.URL) error {
	dial := net.Dialer{Timeout: 5 * time.Second, KeepAlive: 15 * time.Second}
	p := &plain{pool: wire.Pool{
		Dial:     func(ctx context.Context) (net.Conn, error) { return dial.DialContext(ctx, "tcp", to.Host) },
		IdleMost: 4096, IdleFor: 90 * time.Second,
	}}
	defer p.pool.Close()
	s := &wire.Server{
		Handler:     p,
		HandOver:    func(c net.Conn) { c.Close() },
		Watch:       func(net.Conn, func()) (func(), bool) { return func() {}, true },
		ConnContext: func(ctx context.Context, _ net.Conn) context.Context { return ctx },
		Fresh:       10 * time.Second, Idle: 2 * time.Minute, Stall: time.Minute,
	}
	return s.Serve(l)
}

type plain struct{ pool wire.Pool }

// ServeHTTP passes a plain request on. What goes wrong breaks the connection: no
// measurement is meant to see it.
func (p *plain) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if err := p.serve(w.(writer), r); err != nil {
		panic(http.ErrAbortHandler)
	}
}

type writer interface {
	http.ResponseWriter
	Pass(status int, fields []wire.Field, length int64)
}

func (p *plain) serve(w writer, r *http.Request) error {
	conn := p.pool.Idle()
	if conn == nil {
		var err error
		if conn, err = p.pool.Connect(r.Context()); err != nil {
			return err
		}
	}
	defer conn.Close()
	if err := conn.Send(appendRequest(conn.Buffer(), r)); err != nil {
		return err
	}
	stop := r.Context().(interface {
		AfterFunc(func()) func() bool
	}).AfterFunc(conn.Interrupt) // the caller hangs up
	defer stop()
	if err := conn.Await(); err != nil {
		return err
	}
	a, err := conn.Answer(r.Method)
	if err != nil {
		return err
	}
	kept := a.Fields[:0]
	for _, f := range a.Fields {
		if !wire.HopByHop(f.Name) {
			kept = append(kept, f)
		}
	}
	w.Pass(a.Status, kept, a.Length)
	if conn.Chunked() {
		return errors.New("no measurement has chunks")
	}
	for {
		b, err := conn.Next()
		if len(b) > 0 {
			if _, err := w.Write(b); err != nil {
				return err
			}
		}
		if err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
	}
}

func appendRequest(b []byte, r *http.Request) []byte {
	b = append(b, r.Method+" "...)
	b = append(b, r.URL.RequestURI()...)
	b = append(b, " HTTP/1.1\r\n"...)
	b = wire.AppendField(b, "Host", r.Host)
	for name, values := range r.Header {
		if wire.HopByHop(name) {
			continue
		}
		for _, v := range values {
			b = wire.AppendField(b, name, v)
		}
	}
	if client, _, err := net.SplitHostPort(r.RemoteAddr); err == nil {
		b = wire.AppendField(b, "X-Forwarded-For", client)
	}
	b = wire.AppendField(b, "X-Forwarded-Host", r.Host)
	b = wire.AppendField(b, "X-Forwarded-Proto", "http")
	return append(b, "\r\n"...)
}
