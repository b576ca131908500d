package accesslog

import (
	"errors"
	"strconv"
	"time"
)

// Entry is one request of a log. Slices are parts of the line and valid as long
// as it is; empty is not known.
type Entry struct {
	At      int64         // what the stamp says, ns since 1970; UTC where it names no zone
	Coarse  time.Duration // what the stamp is rounded down to; 0: finer than it matters
	AtEnd   bool          // the stamp is of the request's end
	Before  int64         // ns from the stamp to the arrival (HAProxy)
	Took    int64         // ns from arrival to end; below 0 is not known
	Service int64         // ns the service behind worked on it; below 0 is not known, and Took has to do

	Client, User, Session, Tenant, Class []byte
	Method, Host                         []byte
	Path, Query                          []byte // as logged, cut at the question mark
	Status                               int    // 0 is not known
	Bytes, RequestBytes                  int64  // of the answer and the request; below 0 is not known

	More [][]byte // the values of Parser.More, in its order
}

// ErrNoRequest is returned for a line that stands for no request: a comment, a
// message, a connection that was closed before it asked for anything.
var ErrNoRequest = errors.New("the line is no request")

// reset makes e an entry of which nothing is known.
func (e *Entry) reset() {
	*e = Entry{Took: -1, Service: -1, Bytes: -1, RequestBytes: -1, More: e.More[:0]}
}

// Arrival returns when the request arrived, ns since 1970.
func (e *Entry) Arrival() int64 {
	if e.AtEnd && e.Took > 0 {
		return e.At - e.Took
	}
	return e.At + e.Before
}

// Columns are the names under which a mapping can ask for an entry's values, in
// the order of Row.
func Columns() []string {
	return []string{
		"at", "client", "user", "session", "tenant", "class", "method", "host", "path",
		"status", "bytes", "request_bytes", "took", "service",
	}
}

// Row appends the entry's values in the order of Columns; at, took and service
// are in ns, service is took and tenant is client where nothing better is known.
// The numbers lie in scratch, which it returns grown.
func (e *Entry) Row(row [][]byte, scratch []byte) ([][]byte, []byte) {
	number := func(n int64) []byte {
		if n < 0 {
			return nil
		}
		from := len(scratch)
		scratch = strconv.AppendInt(scratch, n, 10)
		return scratch[from:len(scratch):len(scratch)]
	}
	status := int64(e.Status)
	if status == 0 {
		status = -1
	}
	service := e.Service
	if service < 0 {
		service = e.Took
	}
	tenant := e.Tenant
	if len(tenant) == 0 {
		tenant = e.Client
	}
	return append(row, number(e.Arrival()), e.Client, e.User, e.Session, tenant, e.Class, e.Method, e.Host, e.Path,
		number(status), number(e.Bytes), number(e.RequestBytes), number(e.Took), number(service)), scratch
}
