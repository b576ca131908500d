package provider

import (
	"net/http"
	"time"

	"github.com/spillway-dev/spillway/policy/quota"
	"github.com/spillway-dev/spillway/provider/scan"
)

// Scope is of what an answer that is no success speaks.
type Scope uint8

// The scopes.
const (
	OfCall    Scope = iota // this one call: the request, or an accident
	OfLimit                // a limit of ours at the provider: of the units it names
	OfAccount              // our account: nothing will be served until somebody does something
	OfKey                  // our key is not taken
	OfRoute                // the provider as a whole: it has no room, whoever asks
)

// Trouble is what an answer that is no success says.
type Trouble struct {
	Scope Scope
	// Units are those whose limit is reached, as far as is said, where Scope is OfLimit.
	Units [quota.Units]bool
	// Wait is in how long to come back; 0: not said.
	Wait time.Duration
	// Ran is whether the call has run, as far as the answer says.
	Ran State
	// Final says that the same call will not do better later.
	Final bool
	// Code is what the provider calls it, "" for nothing.
	Code string
}

// Heading reads what any service's header says of when to come back: retry-after-ms,
// else Retry-After.
func Heading(h http.Header, now time.Time) (time.Duration, bool) {
	for _, name := range []string{"Retry-After-Ms", "X-Ms-Retry-After-Ms"} {
		if d, ok := Millis(h.Get(name)); ok {
			return d, true
		}
	}
	return Wait(h.Get("Retry-After"), now)
}

// Judged is what a status says by itself. A call that was answered below 500 has not
// run; one that met an overload has not either. Of one that failed within the service
// the input was taken. Who answers 502 or 504, and what no standard knows, speaks for
// somebody else, who may be at it still.
func Judged(status int) Trouble {
	switch {
	case status == http.StatusTooManyRequests:
		return Trouble{Scope: OfLimit, Ran: NotRun}
	case status == http.StatusServiceUnavailable, status == StatusOverloaded:
		return Trouble{Scope: OfRoute, Ran: NotRun}
	case status == http.StatusUnauthorized:
		return Trouble{Scope: OfKey, Ran: NotRun, Final: true}
	case status == http.StatusRequestTimeout:
		return Trouble{Ran: Unknown}
	case status < http.StatusInternalServerError:
		return Trouble{Ran: NotRun, Final: status != http.StatusConflict}
	case status == http.StatusInternalServerError:
		return Trouble{Ran: Counted}
	}
	return Trouble{Ran: Unknown}
}

// StatusOverloaded is Anthropic's for an overload of theirs.
const StatusOverloaded = 529

// Exhausted marks the limits of which nothing is left and returns the longest time
// until one of them is full again.
func (t *Trouble) Exhausted(told *Told) (wait time.Duration) {
	for u, l := range told {
		if l.Said && l.Left == 0 {
			t.Units[u] = true
			wait = max(wait, l.Full)
		}
	}
	return wait
}

// Coded returns the error's member of a body, and the first of its code and its type
// that is text.
func Coded(body []byte) (problem []byte, code string) {
	problem = scan.Member(body, "error")
	for _, key := range []string{"code", "type"} {
		if text, ok := scan.Text(scan.Member(problem, key)); ok && text != "" {
			return problem, name(text)
		}
	}
	return problem, ""
}
