package gateway

import (
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/spillway-dev/spillway/gate"
	"github.com/spillway-dev/spillway/gate/httpgate"
	"github.com/spillway-dev/spillway/policy/reason"
)

// How much of a refused request's body is read so that its caller, who may
// still be sending, sees the answer and not a reset connection.
const (
	// drainKeep is the most that is read to keep a connection: what net/http
	// reads for the same purpose.
	drainKeep = 256 << 10
	// lingerBytes and lingerFor bound what is read before the connection is
	// closed. A caller that reads its answer only after it has sent a larger
	// body, or sends it more slowly, sees the reset.
	lingerBytes = 32 << 20
	lingerFor   = time.Second
)

// refuse answers a caller that is not served, at once, whatever of its body is
// still under way.
func (g *Gateway) refuse(w http.ResponseWriter, r *http.Request, c *class, refused gate.Refusal) {
	g.log.refused(r, refused)
	if !unread(r) {
		c.answer(w, r, refused)
		return
	}
	keep := r.ContentLength > 0 && r.ContentLength <= drainKeep
	expects := strings.EqualFold(r.Header.Get("Expect"), "100-continue")
	if !keep || expects || g.draining.Load() {
		keep = false
		w.Header()["Connection"] = []string{"close"}
	}
	c.answer(w, r, refused)
	control := http.NewResponseController(w)
	control.Flush()
	if expects {
		return // it waits to be told to send, and has just been told not to
	}
	control.SetReadDeadline(time.Now().Add(lingerFor))
	_, err := io.Copy(io.Discard, io.LimitReader(r.Body, lingerBytes))
	control.SetReadDeadline(time.Time{})
	if err != nil && keep {
		panic(http.ErrAbortHandler) // the rest would be read as the next request
	}
}

// answer writes the refusal.
func (c *class) answer(w http.ResponseWriter, r *http.Request, refused gate.Refusal) {
	if refused.Reason == reason.Dropped && c.dropStatus != 0 {
		httpgate.AnswerStatus(w, r, refused, c.dropStatus)
		return
	}
	httpgate.Answer(w, r, refused)
}

// unroutable answers a request that no class takes, or that cannot be told
// apart from another. It was never offered, and is on no class's account.
func (g *Gateway) unroutable(w http.ResponseWriter, r *http.Request, status int) {
	g.seen.Unroutable.Add(1)
	if unread(r) {
		w.Header()["Connection"] = []string{"close"}
		http.NewResponseController(w).EnableFullDuplex()
	}
	httpgate.AnswerStatus(w, r, gate.Refusal{Reason: reason.BadRequest}, status)
}
