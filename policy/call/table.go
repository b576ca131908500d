package call

import "github.com/spillway-dev/spillway/policy/reason"

// safety is what is known of whether a request may be sent twice.
type safety struct{ idempotent, keyed, fixed bool }

// when says which requests may be sent again.
type when uint8

const (
	never when = iota
	ifSafe
	anyTime
)

// ends is what each result of an attempt means: whether the request may be sent
// again, and what it says of the dependency. What may have been done is never
// done again blindly: a client that paid twice cannot be made whole.
var ends = [...]struct {
	again   when
	verdict verdict
}{
	OK:      {never, good},
	Refused: {anyTime, bad},
	Unsent:  {anyTime, bad},
	Broken:  {ifSafe, bad},
	Fault:   {ifSafe, bad},
	Busy:    {ifSafe, bad},
	Neutral: {never, neutral},
}

// verdict returns what the result says of the dependency.
func (r Result) verdict() verdict { return ends[r].verdict }

// again reports whether a request of which an attempt has come to this may be
// sent again. The dependency's word goes before the table, except that its
// "again" does not make harmless what is not.
func (s safety) again(o Outcome) bool {
	if s.fixed || o.Never {
		return false
	}
	w := ends[o.Result].again
	if o.Always {
		w = max(w, ifSafe)
	}
	return w == anyTime || w == ifSafe && s.harmless()
}

// twice reports whether two attempts may be under way at once.
func (s safety) twice() bool { return s.harmless() && !s.fixed }

// harmless reports whether doing it twice is doing it once.
func (s safety) harmless() bool { return s.idempotent || s.keyed }

// reason returns what a call has come to whose last attempt ended so; late:
// because its time was over. What may have been done, and must not be done again
// to find out, is unknown, which tells the caller not to try either.
func (s safety) reason(o Outcome, late bool) reason.Reason {
	switch {
	case o.Result == Broken && !s.harmless():
		return reason.Unknown
	case late:
		return reason.Timeout
	}
	return reason.Failed
}
