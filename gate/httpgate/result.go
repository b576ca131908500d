package httpgate

import (
	"net/http"
	"time"

	policy "github.com/spillway-dev/spillway/policy/call"
)

// OutcomeOf says what an answer means for whoever keeps the request for longer than a
// client does, and may make it again: a job. again: it was sent before under the same
// idempotency key. The body is not looked at.
func OutcomeOf(resp *http.Response, again bool) policy.Outcome {
	said := policy.ReadPushback(resp.Header.Get, time.Now())
	r := resultOf(resp, said, again)
	if r == policy.OK {
		return policy.Outcome{}
	}
	return said.Outcome(r)
}
