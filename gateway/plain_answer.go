package gateway

import (
	"io"
	"net/http"

	"github.com/spillway-dev/spillway/gate/httpgate"
	"github.com/spillway-dev/spillway/gateway/steer"
	"github.com/spillway-dev/spillway/gateway/wire"
)

// pass sends the answer on.
func (x *exchange) pass(a wire.Answer) error {
	x.head(a)
	conn := x.hold.conn
	if a.Length < 0 && !conn.Ready() {
		x.emit() // a stream has begun, though it has nothing to say yet
	}
	if conn.Chunked() {
		return x.passChunks(conn)
	}
	for {
		x.body.takes()
		p, err := conn.Next()
		if len(p) > 0 {
			x.body.touch()
			x.copyOf(p)
		}
		if err == io.EOF {
			x.copied()
			x.ended = true
			x.complete()
		}
		if len(p) > 0 {
			if _, err := x.w.Write(p); err != nil {
				return err
			}
			x.flush()
		}
		switch {
		case err == io.EOF:
			return nil
		case err != nil:
			x.body.err = err
			return err
		}
	}
}

// passChunks sends on a body that has no length, piece by piece as it comes, and
// what follows it.
func (x *exchange) passChunks(conn *wire.Conn) error {
	buffer := buffers.Get()
	defer buffers.Put(buffer)
	for {
		n, err := x.body.Read(buffer)
		if n > 0 {
			if _, err := x.w.Write(buffer[:n]); err != nil {
				return err
			}
			x.flush()
		}
		switch {
		case err == io.EOF:
			to := x.w.Header()
			for _, f := range conn.Trailer() {
				to.Add(http.TrailerPrefix+f.Name, f.Value)
			}
			return nil
		case err != nil:
			return err
		}
	}
}

// flush sends what was written where the writer would keep it.
func (x *exchange) flush() {
	if !x.direct {
		x.emit()
	}
}

// emit sends what was written, and the header.
func (x *exchange) emit() { http.NewResponseController(x.w).Flush() }

// passer is a writer that takes an answer's header as it is.
type passer interface {
	Pass(status int, fields []wire.Field, length int64)
}

// head sends the answer's header: the upstream's without what is between
// neighbours, and ours.
func (x *exchange) head(a wire.Answer) {
	var connection []string
	for _, f := range a.Fields {
		if f.Is("Connection") {
			connection = append(connection, f.Value)
		}
	}
	kept, signed, loads := a.Fields[:0], false, x.gateway.loads.Load()
	sized := a.Length < 0 || a.Status == http.StatusNoContent // the length is not to be said, or has been
	for _, f := range a.Fields {
		length := f.Is("Content-Length")
		if wire.HopByHop(f.Name) || f.Is(httpgate.HeaderRung) || f.Is(httpgate.HeaderReason) ||
			loads && f.Is(steer.LoadHeader) || sized && length || connection != nil && wire.Named(connection, f.Name) {
			continue
		}
		sized = sized || length
		signed = signed || f.Is(httpgate.HeaderRequestID) // the upstream's own stands
		kept = append(kept, f)
	}
	p, ok := x.w.(passer)
	if !ok {
		x.headBy(a.Status, kept)
		return
	}
	x.direct = true
	kept = append(kept,
		wire.Field{Name: httpgate.HeaderRung, Value: x.rung()[0]},
		wire.Field{Name: httpgate.HeaderReason, Value: x.said(a.Status)[0]})
	if !signed {
		kept = append(kept, wire.Field{Name: httpgate.HeaderRequestID, Value: headerValue(x.in, httpgate.HeaderRequestID)})
	}
	if loads {
		kept = append(kept, wire.Field{Name: steer.LoadHeader, Value: x.gateway.board.Load()})
	}
	if x.in.Header["Origin"] != nil {
		x.gateway.expose(x.w.Header(), x.in)
	}
	p.Pass(a.Status, kept, a.Length)
}

// headBy does so by way of net/http.
func (x *exchange) headBy(status int, kept []wire.Field) {
	to := x.w.Header()
	for _, f := range kept {
		to.Add(f.Name, f.Value)
	}
	if _, ok := to["Content-Type"]; !ok {
		to["Content-Type"] = nil // or net/http would guess one
	}
	x.mark(status, to)
	x.w.WriteHeader(status)
}

// inform passes an informational answer on.
func (x *exchange) inform(a wire.Answer) {
	h := make(http.Header, len(a.Fields))
	for _, f := range a.Fields {
		if !wire.HopByHop(f.Name) && !f.Is(httpgate.HeaderRung) && !f.Is(httpgate.HeaderReason) {
			h.Add(f.Name, f.Value)
		}
	}
	if w, ok := x.w.(interface{ Inform(int, http.Header) }); ok {
		w.Inform(a.Status, h)
		return
	}
	to := x.w.Header()
	for name, values := range h { // order does not matter: a map of lines
		to[name] = values
	}
	x.w.WriteHeader(a.Status)
	for name := range h { // order does not matter: all are struck off
		delete(to, name)
	}
}
