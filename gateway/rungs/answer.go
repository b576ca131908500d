package rungs

import (
	"bytes"
	"cmp"
	"net/http"
	"strconv"
	"time"

	"github.com/spillway-dev/spillway/gate/httpgate"
	"github.com/spillway-dev/spillway/policy/reason"
)

// HeaderCacheStatus says what a cache made of a request (RFC 9211).
const HeaderCacheStatus = "Cache-Status"

// Standin is a cheaper answer that was found, ready to be written once.
type Standin struct {
	// Rung and Reason are what it is tagged with.
	Rung   string
	Reason reason.Reason
	// Age is how old it is; 0 for a fixed one.
	Age time.Duration

	earlier *stored
	fixed   *Static
}

// Fixed reports whether it is the operator's own answer, not one of the upstream's.
func (s *Standin) Fixed() bool { return s.fixed != nil }

// Answer is what it says to a request for all of it: its status, its body's coding
// and its body, which nobody may change.
func (s *Standin) Answer() (status int, coding string, body []byte) {
	if s.fixed != nil {
		return cmp.Or(s.fixed.Status, http.StatusOK), "", s.fixed.Body
	}
	return s.earlier.status, s.earlier.header.Get("Content-Encoding"), s.earlier.body
}

// Write writes it. What is in w's header stays beside. upstream is the status that
// the upstream answered with, 0 if it did not.
func (s *Standin) Write(w http.ResponseWriter, r *http.Request, upstream int) {
	h := w.Header()
	h[httpgate.HeaderRung] = []string{s.Rung}
	h[httpgate.HeaderReason] = []string{s.Reason.String()}
	h[httpgate.HeaderRequestID] = []string{httpgate.RequestID(r)}
	if s.fixed != nil {
		s.fixed.write(w, r)
		return
	}
	for name, values := range s.earlier.header { // order does not matter: a map of lines
		h[name] = append(h[name], values...)
	}
	h["Age"] = []string{strconv.FormatInt(int64(s.Age/time.Second), 10)}
	h[HeaderCacheStatus] = append(h[HeaderCacheStatus], s.status(upstream))
	s.earlier.write(w, r)
}

// write answers a request with an earlier answer. One with status 200 is given as the
// request wants it: not at all if the caller has it (304), in part (206), without
// its body (HEAD).
func (s *stored) write(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	if h["Content-Type"] == nil {
		h["Content-Type"] = nil // or net/http would guess one
	}
	if s.status == http.StatusOK {
		modified, _ := http.ParseTime(h.Get("Last-Modified"))
		http.ServeContent(w, r, "", modified, bytes.NewReader(s.body))
		return
	}
	if s.status != http.StatusNoContent {
		h["Content-Length"] = []string{strconv.Itoa(len(s.body))}
	}
	w.WriteHeader(s.status)
	if r.Method != http.MethodHead && s.status != http.StatusNoContent {
		w.Write(s.body) // an error is the caller having gone
	}
}

// status is our member of Cache-Status: whether the upstream was asked first, what it
// answered, how much of the answer's freshness is left (less than 0: that it is
// stale), and the reason.
func (s *Standin) status(upstream int) string {
	left := s.earlier.fresh - s.Age
	b := []byte("spillway; hit")
	if asked(s.Reason) {
		b = []byte("spillway; fwd=bypass")
		if left < 0 {
			b = []byte("spillway; fwd=stale")
		}
		if upstream != 0 {
			b = append(b, "; fwd-status="...)
			b = strconv.AppendInt(b, int64(upstream), 10)
		}
	}
	b = append(b, "; ttl="...)
	b = strconv.AppendInt(b, int64(left/time.Second), 10)
	b = append(b, "; detail="...)
	return string(append(b, s.Reason.String()...))
}

// asked reports whether the upstream was asked before a request ended for that reason.
func asked(why reason.Reason) bool {
	return why == reason.Timeout || why == reason.Unknown || why == reason.Failed
}
