package call

import (
	"time"

	"github.com/spillway-dev/spillway/policy/reason"
	"github.com/spillway-dev/spillway/policy/unit"
)

// Do is what a Step has the driver do.
type Do uint8

// What is to be done. Every call ends with one Answer or one GiveUp.
const (
	// Nothing: go on; what is in flight is in flight.
	Nothing Do = iota
	// Send: make attempt Step.Attempt now, to be cut off at Step.Limit.
	Send
	// Answer: attempt Step.Attempt is the call's answer.
	Answer
	// GiveUp: the call has failed for Step.Reason. If Step.Attempt is not 0, it is
	// the attempt whose end is being reported, and what it answered says more.
	GiveUp
)

// Step is what comes of a fact. Cancel is always to be done, whatever Do says, and
// first. It stands in its Call until the next fact of that call.
type Step struct {
	Do     Do
	Reason reason.Reason // with GiveUp: timeout, failed, unknown, breaker_open, caller_gone
	Hedge  bool          // with Send: it goes beside another, to another copy where there is one
	// Attempt is the number, from 1, of what Do is about.
	Attempt uint16
	// Cancel is the attempts to be cut off.
	Cancel Set
	// Limit is when the attempt that is sent is to be answered; it travels down.
	Limit unit.Instant
	// Next is when Passed is to be reported unless another fact comes first, or Never.
	Next unit.Instant
	// After, with GiveUp, is for how long it is of no use to ask again: until the
	// breaker lets a probe through, or what the dependency asked for; 0: not known.
	After time.Duration
}

// Set is up to two attempts, by number; 0 stands for none.
type Set [2]uint16

// Add puts an attempt into the set.
func (s *Set) add(n uint16) {
	if s[0] == 0 {
		s[0] = n
	} else {
		s[1] = n
	}
}

// Request is what is known of a call before it is made.
type Request struct {
	// Deadline is when the answer is wanted; Never where nothing says so.
	Deadline unit.Instant
	// Idempotent: doing it twice is doing it once (GET, PUT, DELETE, or a method
	// that says so).
	Idempotent bool
	// Keyed: an idempotency key travels with it that the dependency honours.
	Keyed bool
	// Fixed: it cannot be sent again, for its body is gone or too large to keep.
	Fixed bool
	// Dice draws the call's chance, so that two runs of the same call meet the
	// same; 0: the dependency's own.
	Dice uint64
}

// Result is how an attempt ended.
type Result uint8

// The results.
const (
	// OK: an answer; whether it is the one hoped for is between caller and dependency.
	OK Result = iota
	// Refused: the dependency says that it did not do the work and is too busy
	// (429, 503 with pushback, RESOURCE_EXHAUSTED, UNAVAILABLE with pushback).
	Refused
	// Unsent: it surely never reached the dependency (refused connection, failed
	// handshake, no connection).
	Unsent
	// Broken: it was sent, and what came of it is not known (reset, end of file,
	// 502, 504).
	Broken
	// Fault: the dependency tried and failed (500).
	Fault
	// Busy: it says that it is too busy and not that it did nothing: whoever stands
	// between may say so of a service that went away at work (503 without pushback).
	Busy
	// Neutral: it says nothing of the dependency and is not tried again (our own
	// refusal, the caller's fault, a panic before sending). It is the call's answer
	// unless another attempt is in flight: that goes on.
	Neutral
)

// Outcome is what an attempt came to.
type Outcome struct {
	Result Result
	// After is when the dependency wants to be asked again at the earliest,
	// counted from now; 0: it said nothing.
	After time.Duration
	// Never: it does not want to be asked again (x-should-retry: false, a negative
	// pushback).
	Never bool
	// Always: it does (x-should-retry: true), whatever the table says of Result;
	// a call that may run twice is needed all the same.
	Always bool
}
