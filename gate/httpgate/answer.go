package httpgate

import (
	"encoding/json"
	"math/rand/v2"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/spillway-dev/spillway/gate"
	"github.com/spillway-dev/spillway/gate/internal/told"
	"github.com/spillway-dev/spillway/policy/reason"
)

// The headers of every answer, in canonical form.
const (
	HeaderRung   = "Spillway-Rung"
	HeaderReason = "Spillway-Reason"

	// HeaderRequestID tells requests apart; see RequestID.
	HeaderRequestID = "X-Request-Id"
)

// RungRefusal is the last rung of every ladder.
const RungRefusal = told.RungRefusal

// RungPrimary is the first.
const RungPrimary = told.RungPrimary

// ReasonPage is where the page about each reason is; the problem's type is
// this with the reason's name and ".md".
const ReasonPage = "https://github.com/spillway-dev/spillway/blob/main/docs/reasons/"

// Answer writes what a refusal is on the wire: the reason's status with
// Retry-After (whole seconds, at least 1, rounded up), retry-after-ms and an
// application/problem+json body; for a gRPC request a trailers-only answer with
// grpc-retry-pushback-ms. A body tells nothing of the gate's insides. The
// request's body is not touched.
func Answer(w http.ResponseWriter, r *http.Request, refused gate.Refusal) {
	AnswerStatus(w, r, refused, Status(refused.Reason))
}

// AnswerStatus is Answer with another status than the reason's own, for a class
// whose dropped requests are told 204.
func AnswerStatus(w http.ResponseWriter, r *http.Request, refused gate.Refusal, status int) {
	t := told.Of(refused.Reason)
	after := told.After(refused.RetryAfter)
	h := w.Header()
	h[HeaderRung] = rungRefusal
	h[HeaderReason] = names[refused.Reason]
	h[HeaderRequestID] = []string{RequestID(r)}
	if t.Never || after > obeyed {
		h["X-Should-Retry"] = noRetry
	}
	if isGRPC(r) {
		answerGRPC(w, t, after)
		return
	}
	if retries(status) {
		h["Retry-After"] = []string{strconv.FormatInt(seconds(after), 10)}
		h["Retry-After-Ms"] = []string{strconv.FormatInt(after.Milliseconds(), 10)}
	}
	if status == http.StatusNoContent {
		w.WriteHeader(status)
		return
	}
	var scratch [768]byte
	body := problem(scratch[:0], refused, t, status, after)
	h["Content-Type"] = problemType
	h["Content-Length"] = []string{strconv.Itoa(len(body))}
	h["Cache-Control"] = noStore
	w.WriteHeader(status)
	if r.Method != http.MethodHead {
		w.Write(body) // an error here is the caller having gone: nobody is left to tell
	}
}

// Header values that never change are shared; net/http does not write to them.
var (
	rungRefusal  = []string{RungRefusal}
	rungPrimary  = []string{RungPrimary}
	reasonServed = []string{reason.Served.String()}
	problemType  = []string{"application/problem+json"}
	noStore      = []string{"no-store"}
	noRetry      = []string{"false"}
	names        = func() (all [reason.Count][]string) {
		for r := range all {
			all[r] = []string{reason.Reason(r).String()}
		}
		return all
	}()
)

// obeyed is the longest wait that all official model clients obey; told a longer one
// most come back within seconds, unless they are told not to.
const obeyed = time.Minute

// retries reports whether an answer with that status says when to come back.
func retries(status int) bool {
	switch status {
	case http.StatusConflict, http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return true
	}
	return false
}

func seconds(d time.Duration) int64 { return int64((d + time.Second - 1) / time.Second) }

// problem appends the body of RFC 9457. All of it is ours but the class, which
// is the operator's.
func problem(b []byte, refused gate.Refusal, t *told.Telling, status int, after time.Duration) []byte {
	name := refused.Reason.String()
	b = append(b, `{"type":"`+ReasonPage...)
	b = append(b, name...)
	b = append(b, `.md","title":"`...)
	b = append(b, t.Title...)
	b = append(b, `","status":`...)
	b = strconv.AppendInt(b, int64(status), 10)
	b = append(b, `,"detail":"`...)
	b = append(b, t.Detail...)
	b = append(b, `","reason":"`...)
	b = append(b, name...)
	b = append(b, `","rung":"`+RungRefusal+`"`...)
	if refused.Class != "" {
		b = append(b, `,"class":`...)
		b = appendString(b, refused.Class)
	}
	if retries(status) {
		b = append(b, `,"retry_after_ms":`...)
		b = strconv.AppendInt(b, after.Milliseconds(), 10)
	}
	return append(b, "}\n"...)
}

// appendString appends s as a JSON string.
func appendString(b []byte, s string) []byte {
	if printable(s) && !strings.ContainsAny(s, `"\`) {
		b = append(b, '"')
		b = append(b, s...)
		return append(b, '"')
	}
	quoted, _ := json.Marshal(s) // a string has no error
	return append(b, quoted...)
}

func isGRPC(r *http.Request) bool {
	return r.ProtoMajor >= 2 && strings.HasPrefix(r.Header.Get("Content-Type"), "application/grpc")
}

// answerGRPC writes a trailers-only answer. A negative pushback tells the
// client not to retry (gRFC A6).
func answerGRPC(w http.ResponseWriter, t *told.Telling, after time.Duration) {
	pushback := int64(-1)
	if !t.Never {
		pushback = after.Milliseconds()
	}
	h := w.Header()
	h["Content-Type"] = []string{"application/grpc"}
	h["Grpc-Status"] = []string{strconv.Itoa(t.GRPC)}
	h["Grpc-Message"] = []string{t.Detail} // no byte of it needs percent-encoding
	h["Grpc-Retry-Pushback-Ms"] = []string{strconv.FormatInt(pushback, 10)}
	w.WriteHeader(http.StatusOK)
}

// requestIDMax bounds an id that a caller sent and that is sent back.
const requestIDMax = 128

// RequestID returns the caller's X-Request-Id if it is one, printable ASCII without
// spaces and at most 128 bytes of it, else a new one that nobody can guess.
func RequestID(r *http.Request) string {
	if ids := r.Header[HeaderRequestID]; len(ids) > 0 && ids[0] != "" && len(ids[0]) <= requestIDMax && printable(ids[0]) {
		return ids[0]
	}
	return strconv.FormatUint(rand.Uint64()|1<<63, 36)
}

func printable(s string) bool {
	for i := range len(s) {
		if s[i] <= ' ' || s[i] >= 0x7f {
			return false
		}
	}
	return true
}
