package shed

import (
	"fmt"
	"time"

	"github.com/spillway-dev/spillway/policy/chance"
)

// Rule is how a class sheds. The zero Rule has every default.
type Rule struct {
	// Span is how long a decision about a session holds at the most: it holds
	// until the stretch of the session ends that the request names, and without
	// one for so long from when it was made. Zero or less: SpanDefault.
	Span time.Duration
	// Release is how much of what is offered is served in full again a second at
	// the most, in millionths. Zero or less: ReleaseDefault.
	Release int
	// Hysteresis is the part of the capacity, in millionths, that must be spare
	// beyond what is shed for less to be shed. Zero: HysteresisDefault; below:
	// none.
	Hysteresis int
	// Redeal is how long it takes until every session has been dealt a new place
	// in its bucket, so that it is not always the same who are shed. Zero or less:
	// RedealDefault.
	Redeal time.Duration
	// Sessions is how many decisions are held at once, 16 bytes each, rounded up
	// to a power of two; the memory is taken when something is shed for the first
	// time. Zero or less: SessionsDefault.
	Sessions int
	// Seed deals the places. It counts at the start.
	Seed uint64
}

// Defaults of a rule.
const (
	SpanDefault       = 30 * time.Second
	ReleaseDefault    = 100_000 // 10 % a second: from nothing to everything in 10 s
	HysteresisDefault = 10_000  // 1 %
	RedealDefault     = 10 * time.Minute
	SessionsDefault   = 1 << 16
	// SessionsMax is 256 MiB.
	SessionsMax = 1 << 24
)

// WithDefaults returns the rule with every value filled in.
func (r Rule) WithDefaults() Rule {
	if r.Span <= 0 {
		r.Span = SpanDefault
	}
	if r.Release <= 0 {
		r.Release = ReleaseDefault
	}
	switch {
	case r.Hysteresis == 0:
		r.Hysteresis = HysteresisDefault
	case r.Hysteresis < 0:
		r.Hysteresis = 0
	}
	if r.Redeal <= 0 {
		r.Redeal = RedealDefault
	}
	if r.Sessions <= 0 {
		r.Sessions = SessionsDefault
	}
	return r
}

// Validate returns what is wrong with the rule, or nil.
func (r *Rule) Validate() error {
	switch {
	case r.Hysteresis >= chance.Whole:
		return fmt.Errorf("shed hysteresis %d: at most %d millionths of the capacity can be spare", r.Hysteresis, chance.Whole-1)
	case r.Sessions > SessionsMax:
		return fmt.Errorf("shed decisions of %d sessions: at most %d can be held", r.Sessions, SessionsMax)
	}
	return nil
}
