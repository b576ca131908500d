package gateway

import (
	"bytes"
	"net/http"
	"strconv"

	"github.com/spillway-dev/spillway/policy/reason"
	"github.com/spillway-dev/spillway/provider"
)

// obeyed is the longest wait in seconds that the official clients keep; told a longer
// one they come back within seconds or give up, so they are told not to come.
const obeyed = 60

// telling is a writer that adds to a refusal's body what the clients of a provider
// read: a member "error".
type telling struct {
	http.ResponseWriter
	problem []byte
}

// told returns the writer for a refusal of a class whose upstream is a provider.
func (c *class) told(w http.ResponseWriter, r *http.Request, why reason.Reason) http.ResponseWriter {
	p := c.upstream.provided
	if p == nil {
		return w
	}
	message := "the gateway refused this request: " + why.String()
	if x, _ := r.Context().Value(pricedKey{}).(*priced); x != nil && x.wrong != "" {
		message = x.wrong
	}
	return &telling{w, p.api.Problem(kindOf(why), message)}
}

type pricedKey struct{}

// kindOf is what a reason is to a provider's clients.
func kindOf(why reason.Reason) provider.Kind {
	switch why {
	case reason.RateLimited, reason.TenantFull, reason.QuotaRequests, reason.QuotaTokens, reason.QuotaConcurrency:
		return provider.Limited
	case reason.Unauthorized:
		return provider.Denied
	case reason.BadRequest, reason.TooLarge, reason.KeyConflict, reason.KeyInProgress:
		return provider.Invalid
	case reason.Failed, reason.Timeout, reason.Unknown:
		return provider.Broken
	}
	return provider.Overloaded
}

// WriteHeader implements http.ResponseWriter.
func (t *telling) WriteHeader(status int) {
	h := t.Header()
	if seconds, err := strconv.Atoi(first(h["Retry-After"])); err == nil && seconds > obeyed {
		h["X-Should-Retry"] = noRetry
	}
	if n, err := strconv.Atoi(first(h["Content-Length"])); err == nil && status != http.StatusNoContent {
		h["Content-Length"] = []string{strconv.Itoa(n + len(t.problem) + len(`,"error":`))}
	}
	t.ResponseWriter.WriteHeader(status)
}

// Write implements http.ResponseWriter: the one body of a refusal, a JSON object.
func (t *telling) Write(b []byte) (int, error) {
	i := bytes.LastIndexByte(b, '}')
	if i < 0 {
		return t.ResponseWriter.Write(b)
	}
	all := append(append(append(append([]byte(nil), b[:i]...), `,"error":`...), t.problem...), b[i:]...)
	_, err := t.ResponseWriter.Write(all)
	return len(b), err
}

// Unwrap is for http.ResponseController.
func (t *telling) Unwrap() http.ResponseWriter { return t.ResponseWriter }

func first(values []string) string {
	if len(values) == 0 {
		return ""
	}
	return values[0]
}
