package report

// Kind groups reasons by what they mean to the reader of a chart; a kind has
// one colour and one word everywhere.
type Kind uint8

// The kinds, in the order in which a river stacks them from the bottom.
const (
	KindDone    Kind = iota // served, accepted
	KindCaller              // refused: the caller's own limit, or its input
	KindOurs                // refused, dropped or displaced for want of capacity
	KindFailed              // failed, expired, timed out, left
	KindUnknown             // the outcome of the call is not known
)

// String is the word beside the band.
func (k Kind) String() string {
	switch k {
	case KindDone:
		return "done"
	case KindCaller:
		return "refused: the caller's own limit"
	case KindOurs:
		return "refused: ours"
	case KindUnknown:
		return "unknown"
	default:
		return "failed, expired, timed out"
	}
}

// A reasonFacts is a row of DESIGN.md's table of reasons as far as a report
// needs it.
type reasonFacts struct {
	name string
	kind Kind
	// atAdmission: decided before any wait, so it counts for refused_p50_ms.
	atAdmission bool
}

// knownReasons is the closed set, in the order of DESIGN.md's table.
var knownReasons = [...]reasonFacts{
	{"served", KindDone, false}, {"accepted", KindDone, false},
	{"shed_for_load", KindOurs, true}, {"queue_full", KindOurs, true}, {"queue_bytes", KindOurs, true},
	{"infeasible", KindOurs, true}, {"draining", KindOurs, true}, {"operator", KindOurs, true},
	{"ledger_unavailable", KindOurs, true},
	{"rate_limited", KindCaller, true}, {"tenant_full", KindCaller, true}, {"quota_requests", KindCaller, true},
	{"quota_tokens", KindCaller, true}, {"quota_concurrency", KindCaller, true},
	{"dropped", KindOurs, true},
	{"expired", KindFailed, false}, {"block_timeout", KindFailed, false}, {"evicted", KindOurs, false},
	{"caller_gone", KindFailed, false},
	{"timeout", KindFailed, false}, {"unknown", KindUnknown, false}, {"failed", KindFailed, false},
	{"breaker_open", KindFailed, false},
	{"bad_request", KindCaller, true}, {"unauthorized", KindCaller, true}, {"too_large", KindCaller, true},
	{"key_in_progress", KindCaller, true}, {"key_conflict", KindCaller, true},
}

// KindOf returns the kind of a reason. A reason outside the closed set is
// shown as failed, the kind that is looked at.
func KindOf(reason string) Kind { return factsOf(reason).kind }

func factsOf(reason string) reasonFacts {
	for _, f := range knownReasons {
		if f.name == reason {
			return f
		}
	}
	return reasonFacts{reason, KindFailed, false}
}
