package main

import (
	"bytes"
	"math/rand/v2"
	"net/http"
	"strings"
	"time"
)

var answer = bytes.Repeat([]byte("spillway"), 256/8)

// upstream is a service that works on so many requests at once, each for so
// long, give or take a spread. What comes beyond that waits inside it, in order, for as long as its
// caller does: a service without overload control.
type upstream struct {
	slots   chan struct{} // nil: as many as come
	service time.Duration
	spread  time.Duration // to either side
}

func newUpstream(slots int, service, spread time.Duration) *upstream {
	u := &upstream{service: service, spread: spread}
	if slots > 0 {
		u.slots = make(chan struct{}, slots)
	}
	return u
}

// ServeHTTP answers 256 bytes. A request whose path ends in /freeze is never
// answered: it holds its slot for as long as its caller stays.
func (u *upstream) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if strings.HasSuffix(r.URL.Path, "/freeze") {
		<-r.Context().Done()
		return
	}
	if u.slots != nil {
		select {
		case u.slots <- struct{}{}:
			defer func() { <-u.slots }()
		case <-r.Context().Done():
			return
		}
	}
	if u.service > 0 {
		time.Sleep(u.service - u.spread + rand.N(2*u.spread+1))
	}
	h := w.Header()
	h["Content-Type"] = contentType
	h["Content-Length"] = contentLength
	_, _ = w.Write(answer)
}

var (
	contentType   = []string{"text/plain; charset=utf-8"}
	contentLength = []string{"256"}
)
