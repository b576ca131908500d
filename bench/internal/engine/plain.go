package engine

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"time"

	"github.com/spillway-dev/spillway/gate/httpgate"
	"github.com/spillway-dev/spillway/gateway/copies"
	"github.com/spillway-dev/spillway/gateway/edge"
	"github.com/spillway-dev/spillway/gateway/wire"
)

// Gateway serves a listener as the gateway serves plain requests, with all that is
// not admission: its limits on connections and requests, package wire on both sides,
// the choice of a copy and the judgement of how it did, request ids, the X-Forwarded
// headers. What a request through the gateway costs over one through this is the
// class, the deadline and its headers, the gate, the account and what it takes to
// answer in time. It returns when the listener is closed.
func Gateway(l net.Listener, to *url.URL) error {
	set, err := copies.New(copies.Config{Name: "app", URLs: []*url.URL{to}})
	if err != nil {
		return err
	}
	set.Start()
	defer set.Close()
	guard := &edge.Guard{
		Handler: &plain{set},
		Refuse:  func(w http.ResponseWriter, _ *http.Request, status int) { w.WriteHeader(status) },
		Conn: func(r *http.Request) net.Conn {
			c, _ := r.Context().Value(connKey{}).(net.Conn)
			return c
		},
		Held:   func(r *http.Request) bool { _, held := wire.HeldBody(r); return held },
		Ending: func() bool { return false },
	}
	guard.Set(edge.Limits{
		HeaderCount: 100, Body: 1 << 30, BodyGrace: 10 * time.Second, BodyRate: 500, WriteStall: 30 * time.Second,
		Resets: 100, DropUnderscores: true, Protected: func(string) bool { return false },
	})
	s := &wire.Server{
		Handler:  guard,
		HandOver: func(c net.Conn) { c.Close() },
		Watch:    func(net.Conn, func()) (func(), bool) { return func() {}, true }, // once a connection
		ConnContext: func(ctx context.Context, c net.Conn) context.Context {
			return context.WithValue(ctx, connKey{}, c)
		},
		Fresh: 10 * time.Second, Idle: 2 * time.Minute, Stall: time.Minute,
	}
	return s.Serve(edge.Wrap(l, edge.NewCaps(10_000, 10_000), edge.Options{WriteStall: 30 * time.Second}))
}

type connKey struct{}

type plain struct{ set *copies.Set }

// ServeHTTP passes a plain request on. What goes wrong breaks the connection: no
// measurement is meant to see it.
func (p *plain) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c, ok := p.set.Take(nil)
	if !ok {
		panic(http.ErrAbortHandler)
	}
	defer c.Done()
	id := httpgate.RequestID(r)
	r.Header[httpgate.HeaderRequestID] = []string{id}
	begin := time.Now()
	status, err := serve(c.Plain(), w.(writer), r)
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	c.Judge(copies.OutcomeOf(status), time.Since(begin))
}

type writer interface {
	http.ResponseWriter
	Pass(status int, fields []wire.Field, length int64)
}

func serve(pool *wire.Pool, w writer, r *http.Request) (status int, err error) {
	conn := pool.Idle()
	if conn == nil {
		if conn, err = pool.Connect(r.Context()); err != nil {
			return 0, err
		}
	}
	defer conn.Close()
	if err := conn.Send(appendRequest(conn.Buffer(), r)); err != nil {
		return 0, err
	}
	stop := r.Context().(interface {
		AfterFunc(func()) func() bool
	}).AfterFunc(conn.Interrupt) // the caller hangs up
	defer stop()
	if err := conn.Await(); err != nil {
		return 0, err
	}
	a, err := conn.Answer(r.Method)
	if err != nil {
		return 0, err
	}
	kept := a.Fields[:0]
	for _, f := range a.Fields {
		if !wire.HopByHop(f.Name) {
			kept = append(kept, f)
		}
	}
	kept = append(kept, wire.Field{Name: httpgate.HeaderRequestID, Value: r.Header.Get(httpgate.HeaderRequestID)})
	w.Pass(a.Status, kept, a.Length)
	if conn.Chunked() {
		return 0, errors.New("no measurement has chunks")
	}
	for {
		b, err := conn.Next()
		if len(b) > 0 {
			if _, err := w.Write(b); err != nil {
				return 0, err
			}
		}
		if err == io.EOF {
			return a.Status, nil
		} else if err != nil {
			return 0, err
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
