package observe

import "sync/atomic"

// Trust is what there is to see of callers' proofs and claims; a trust.Counts is
// one. Each method calls f with every count that it has.
type Trust interface {
	EachKnown(f func(source string, n int64))
	EachFailed(f func(source, failure string, n int64))
	EachLowered(f func(claim string, n int64))
	EachMalformed(f func(n int64))
}

// Callers is what is known of those who ask. The zero value shows nothing.
type Callers struct{ trust atomic.Pointer[Trust] }

// Show has a gateway's callers shown from now on.
func (c *Callers) Show(t Trust) { c.trust.Store(&t) }

var (
	callersKnown     = Definition{"spillway_callers_total", "counter", []string{"source"}, "Requests by how their caller was known; one can be known in several ways. This and the next three only where trust or clients are configured."}
	proofsFailed     = Definition{"spillway_proofs_failed_total", "counter", []string{"source", "failure"}, "Proofs of who asks that did not hold, by their kind and why."}
	claimsLowered    = Definition{"spillway_claims_lowered_total", "counter", []string{"claim"}, "Claims above what their caller may make, which were lowered to that."}
	callersMalformed = Definition{"spillway_malformed_callers_total", "counter", nil, "Headers about a caller's address or attempt that made no sense and were ignored."}
	clientsEarly     = Definition{"spillway_clients_forgotten_early_total", "counter", []string{"resource"}, "Clients forgotten before their bucket was full, because more were active at once than clients.kept: each may have had one burst too much."}
)

// callers adds what is known of those who ask.
func (s sink) callers(c *Callers) {
	t := c.trust.Load()
	if t == nil {
		return
	}
	(*t).EachKnown(func(source string, n int64) { s.add(&callersKnown, float64(n), source) })
	(*t).EachFailed(func(source, failure string, n int64) { s.add(&proofsFailed, float64(n), source, failure) })
	(*t).EachLowered(func(claim string, n int64) { s.add(&claimsLowered, float64(n), claim) })
	(*t).EachMalformed(func(n int64) { s.add(&callersMalformed, float64(n)) })
}

// clients adds what a resource's limits of clients have come to.
func (s sink) clients(r *resource) {
	if f, ok := r.source.(interface{ ClientsForgotten() int64 }); ok {
		s.add(&clientsEarly, float64(f.ClientsForgotten()), r.name)
	}
}
