package provider

import (
	"net/http"
	"time"

	"github.com/spillway-dev/spillway/expr"
)

// API is the language that a service speaks.
type API interface {
	// Read takes a request apart. An error says in one line what is wrong with it: the
	// request is the caller's fault and is not sent.
	Read(q *Request) (*Call, error)
	// Told returns what an answer's header says is left. now is the wall clock's.
	Told(h http.Header, now time.Time) Told
	// Judge returns what an answer that is no success says. body is its beginning.
	Judge(status int, h http.Header, body []byte, now time.Time) Trouble
	// Authorize puts the provider's own key into a request's header, in place of
	// whatever is there.
	Authorize(h http.Header, key string)
	// Problem returns an error as the clients of the API read it: a member "error" of
	// a JSON document.
	Problem(kind Kind, message string) []byte
}

// Request is what is read of a request. Nothing of it is changed.
type Request struct {
	Method, Path string
	Header       http.Header
	// Body is all of it.
	Body []byte
	// Known is what expressions know of it; nil where there are none.
	Known expr.Request
	// Plain says that the service refuses to be asked for usage in a stream.
	Plain bool
}

// NameMost bounds a name that comes from outside, in bytes.
const NameMost = 128

// name returns s as a name that may be shown: printable ASCII, cut to NameMost.
func name(s string) string {
	if len(s) > NameMost {
		s = s[:NameMost]
	}
	for i := range len(s) {
		if s[i] < ' ' || s[i] > '~' {
			b := []byte(s)
			for j := range b {
				if b[j] < ' ' || b[j] > '~' {
					b[j] = '?'
				}
			}
			return string(b)
		}
	}
	return s
}

// Kind is what an error that we make ourselves is of.
type Kind uint8

// The kinds.
const (
	Broken     Kind = iota // the service failed, or its answer broke off
	Overloaded             // it has, or we have, no room now
	Limited                // the caller has asked for more than it may now
	Denied                 // who it is may not ask
	Invalid                // it asks for what cannot be
)
