package gateway

import (
	"encoding/json"
	"fmt"
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

// refuse answers a caller that is not served.
func (g *Gateway) refuse(w http.ResponseWriter, r *http.Request, c *class, refused gate.Refusal) {
	g.log.refused(r, refused)
	g.account(r, c, refused)
	g.decline(w, r, func() { c.answer(w, r, refused) })
}

// decline has an answer written at once, whatever of the request's body is
// still under way, and sees to it that the answer arrives and that the rest of
// the body is not taken for another request.
func (g *Gateway) decline(w http.ResponseWriter, r *http.Request, answer func()) {
	g.own(w.Header(), r)
	g.deliver(w, r, answer)
}

// deliver is decline for an answer that says itself who may read it.
func (g *Gateway) deliver(w http.ResponseWriter, r *http.Request, answer func()) {
	if !unread(r) {
		answer()
		return
	}
	control := http.NewResponseController(w)
	control.EnableFullDuplex()
	expects := strings.EqualFold(r.Header.Get("Expect"), "100-continue")
	keep := r.ContentLength > 0 && r.ContentLength <= drainKeep && !expects && !g.draining.Load()
	if !keep {
		w.Header()["Connection"] = []string{"close"}
	}
	answer()
	control.Flush()
	if expects {
		control.SetReadDeadline(pastDeadline)
		return // it waits to be told to send, and has just been told not to
	}
	control.SetReadDeadline(time.Now().Add(lingerFor))
	_, err := io.Copy(io.Discard, io.LimitReader(r.Body, lingerBytes))
	switch {
	case err == nil && keep:
		control.SetReadDeadline(time.Time{})
	case keep:
		// The header has promised to go on, and it cannot be. The deadline has
		// passed: net/http reads on before it closes, and must not wait.
		panic(http.ErrAbortHandler)
	default:
		control.SetReadDeadline(pastDeadline)
	}
}

// answer writes the refusal.
func (c *class) answer(w http.ResponseWriter, r *http.Request, refused gate.Refusal) {
	w = c.told(w, r, refused.Reason)
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
	title, detail := "No class", "No class of the gateway's configuration takes this method, host and path."
	if status == http.StatusBadRequest {
		title, detail = "Ambiguous request", "A path must not have dot segments beside percent-encoding, and a reverse proxy opens no tunnels (CONNECT)."
	}
	g.problem(w, r, status, reason.BadRequest, title, detail)
}

// problem answers with what the caller must do about it, which is not to come back with
// the same.
func (g *Gateway) problem(w http.ResponseWriter, r *http.Request, status int, why reason.Reason, title, detail string) {
	g.decline(w, r, func() {
		h := w.Header()
		h[httpgate.HeaderRung] = []string{httpgate.RungRefusal}
		h[httpgate.HeaderReason] = []string{why.String()}
		h[httpgate.HeaderRequestID] = []string{identify(r)}
		h["X-Should-Retry"] = []string{"false"}
		h["Content-Type"] = []string{"application/problem+json"}
		w.WriteHeader(status)
		fmt.Fprintf(w, "{\"type\":\"%s%s.md\",\"title\":%q,\"status\":%d,\"detail\":%s,\"reason\":\"%s\",\"rung\":\"%s\"}\n",
			httpgate.ReasonPage, why, title, status, quoted(detail), why, httpgate.RungRefusal)
	})
}

// quoted is a text as a JSON string.
func quoted(s string) []byte {
	b, _ := json.Marshal(s) // a string has no error
	return b
}
