package reason

import "fmt"

// A Reason says why an answer is the full one, a cheaper one, or none. The
// zero value None marks a request that has no answer yet.
type Reason uint8

// The closed set. Names follow the strings; see names for those.
const (
	None Reason = iota

	// Done.
	Served
	Accepted

	// Shed at admission: our capacity.
	ShedForLoad
	QueueFull
	QueueBytes
	Infeasible
	Draining
	Operator
	LedgerUnavailable

	// Shed at admission: the caller's own limit.
	RateLimited
	TenantFull
	QuotaRequests
	QuotaTokens
	QuotaConcurrency

	// Best effort, thrown away on purpose.
	Dropped

	// In the queue.
	Expired
	BlockTimeout
	Evicted
	CallerGone

	// At the call.
	Timeout
	Unknown
	Failed
	BreakerOpen

	// Input.
	BadRequest
	Unauthorized
	TooLarge
	KeyInProgress
	KeyConflict

	// Count is the number of reasons, None included: the length of an array
	// indexed by Reason.
	Count int = iota
)

// Kind groups reasons by where on a request's way they arise, which decides
// who is to blame and what the caller should do.
type Kind uint8

// The kinds, in the order of DESIGN's table.
const (
	KindNone   Kind = iota
	KindDone        // the answer asked for
	KindOurs        // refused at admission for want of our capacity
	KindCaller      // refused at admission by the caller's own limit
	KindDrop        // best effort thrown away
	KindQueue       // ended while waiting
	KindCall        // ended at the call: a failure
	KindInput       // the request itself is wrong
)

var table = [Count]struct {
	name string
	kind Kind
}{
	None:              {"none", KindNone},
	Served:            {"served", KindDone},
	Accepted:          {"accepted", KindDone},
	ShedForLoad:       {"shed_for_load", KindOurs},
	QueueFull:         {"queue_full", KindOurs},
	QueueBytes:        {"queue_bytes", KindOurs},
	Infeasible:        {"infeasible", KindOurs},
	Draining:          {"draining", KindOurs},
	Operator:          {"operator", KindOurs},
	LedgerUnavailable: {"ledger_unavailable", KindOurs},
	RateLimited:       {"rate_limited", KindCaller},
	TenantFull:        {"tenant_full", KindCaller},
	QuotaRequests:     {"quota_requests", KindCaller},
	QuotaTokens:       {"quota_tokens", KindCaller},
	QuotaConcurrency:  {"quota_concurrency", KindCaller},
	Dropped:           {"dropped", KindDrop},
	Expired:           {"expired", KindQueue},
	BlockTimeout:      {"block_timeout", KindQueue},
	Evicted:           {"evicted", KindQueue},
	CallerGone:        {"caller_gone", KindQueue},
	Timeout:           {"timeout", KindCall},
	Unknown:           {"unknown", KindCall},
	Failed:            {"failed", KindCall},
	BreakerOpen:       {"breaker_open", KindCall},
	BadRequest:        {"bad_request", KindInput},
	Unauthorized:      {"unauthorized", KindInput},
	TooLarge:          {"too_large", KindInput},
	KeyInProgress:     {"key_in_progress", KindInput},
	KeyConflict:       {"key_conflict", KindInput},
}

// String returns the reason as every surface shows it.
func (r Reason) String() string {
	if int(r) < Count {
		return table[r].name
	}
	return fmt.Sprintf("reason(%d)", uint8(r))
}

// Kind returns the group r belongs to.
func (r Reason) Kind() Kind {
	if int(r) < Count {
		return table[r].kind
	}
	return KindNone
}

// AtAdmission reports whether r refuses before any wait.
func (r Reason) AtAdmission() bool {
	k := r.Kind()
	return k == KindOurs || k == KindCaller || k == KindDrop
}

// Parse returns the reason with the given name. None has no name to parse:
// it stands for the absence of a reason.
func Parse(name string) (Reason, error) {
	for r := None + 1; int(r) < Count; r++ {
		if table[r].name == name {
			return r, nil
		}
	}
	return None, fmt.Errorf("unknown reason %q", name)
}

// All returns every reason but None, in the order of the table.
func All() []Reason {
	all := make([]Reason, 0, Count-1)
	for r := None + 1; int(r) < Count; r++ {
		all = append(all, r)
	}
	return all
}

// Error makes a reason an error that errors.Is can look for.
func (r Reason) Error() string { return r.String() }
