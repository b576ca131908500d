package gateway

import (
	"io"
	"net/http"

	"github.com/spillway-dev/spillway/gate/httpgate"
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
		}
		if err == io.EOF {
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
	Pass(status int, fields []wire.Field, h http.Header, length int64)
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
	kept := a.Fields[:0]
	sized := a.Length < 0 || a.Status == http.StatusNoContent // a length is not to be said, or has been
	for _, f := range a.Fields {
		length := f.Is("Content-Length")
		if wire.HopByHop(f.Name) || f.Is(httpgate.HeaderRung) || f.Is(httpgate.HeaderReason) ||
			sized && length || connection != nil && wire.Named(connection, f.Name) {
			continue
		}
		if f.Is(httpgate.HeaderRequestID) {
			delete(x.w.Header(), httpgate.HeaderRequestID) // the upstream's own stands
		}
		sized = sized || length
		kept = append(kept, f)
	}
	to := x.w.Header()
	if p, ok := x.w.(passer); ok {
		x.direct = true
		p.Pass(a.Status, kept, to, a.Length)
		return
	}
	for _, f := range kept {
		to.Add(f.Name, f.Value)
	}
	if _, ok := to["Content-Type"]; !ok {
		to["Content-Type"] = nil // or net/http would guess one
	}
	x.w.WriteHeader(a.Status)
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
