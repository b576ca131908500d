package gateway_test

import (
	"net/http"
	"strconv"
	"testing"
	"time"

	"github.com/spillway-dev/spillway/policy/reason"
)

// A service that keeps to the deadline it was told, and breaks off there, has run out of
// time and has not failed: what it was told is rounded down, so that it is the first to
// know.
func TestAServiceThatBreaksOffAtItsDeadlineHasTimedOut(t *testing.T) {
	h := start(t, "  all: { match: { path: \"/*\" }, slots: 4 }\n", func(w http.ResponseWriter, r *http.Request) {
		left, err := strconv.Atoi(r.Header.Get("X-Envoy-Expected-Rq-Timeout-Ms"))
		if err != nil {
			t.Errorf("told of the deadline: %v", err)
		}
		<-time.After(time.Duration(left) * time.Millisecond) // that is its work
		panic(http.ErrAbortHandler)
	})
	for range 10 {
		want(t, h.send("GET", "/", nil, "X-Envoy-Expected-Rq-Timeout-Ms", "30"), 504, "timeout", "refusal")
	}
	until(t, "the slots are free", func() bool { return h.state("all").Used == 0 })
	if n := h.state("all").Tally.Answered[reason.Timeout]; n != 10 {
		t.Errorf("%d on the account as timed out", n)
	}
}
