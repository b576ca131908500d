package sim

import (
	"time"

	"github.com/spillway-dev/spillway/policy/boundary"
	"github.com/spillway-dev/spillway/policy/reason"
	"github.com/spillway-dev/spillway/policy/unit"
	"github.com/spillway-dev/spillway/report"
)

// Result is what a run did.
type Result struct {
	Report *report.Report
	// Resources are in the order of Scenario.Resources, Callers in that of
	// Scenario.Streams.
	Resources []ResourceResult
	Callers   []CallersResult
	// Ended is the instant of the last event; Events is how many were played.
	Ended  time.Duration
	Events int64
}

// ResourceResult is what became of a resource; warm-up is not left out.
type ResourceResult struct {
	Name string
	// Classes are the machine's own accounts at the end; empty if unprotected.
	Classes []boundary.ClassState

	// Served and Failed count work that the upstream ended by itself, Stopped
	// what it stopped because it noticed that nobody waited for it.
	Served, Failed, Stopped int64
	// Busy is the time that its servers worked; Wasted is the part of it spent
	// on work whose caller had been answered, or had left, by the work's end.
	Busy, Wasted time.Duration
	// Reserved and NotReserved count what the store of its classes' quotas has
	// answered, and OverQuota what its provider has failed for its own quotas.
	Reserved, NotReserved, OverQuota int64
	// LineMost is the longest that its line has been.
	LineMost int

	// WaitedFor is the sum over all requests of the time waited in the
	// boundary, and HeldFor that of slots held, each integrated over the run
	// from the numbers that waited and ran: Little's law makes it equal to the
	// sum over requests.
	WaitedFor, HeldFor time.Duration
	// IdleWhileRefusing is how long slots of the resource were idle that a class
	// which refused or let wait for want of one might not use, in slots x time: the
	// price of not sharing slots between classes. The machine's own account, of the
	// offered load without warm-up.
	IdleWhileRefusing time.Duration
}

// UsefulShare is the share of the upstream's work that was for callers who
// still waited for it; unknown where it did none.
func (r *ResourceResult) UsefulShare() report.Number {
	return report.Share(int64(r.Busy-r.Wasted), int64(r.Busy))
}

// CallersResult is how the callers of a stream fared, over all the attempts
// that each made; those of the warm-up are not counted.
type CallersResult struct {
	Callers  int64
	Attempts int64
	// Answered callers got a primary answer to some attempt, Cheaper ones that of a
	// rung; the others gave up, or had no answer at the end.
	Answered int64
	Cheaper  int64
	GaveUp   int64
	// Withheld counts the retries that the budget did not allow.
	Withheld int64
}

// heard counts a caller who has an answer.
func (r *CallersResult) heard(rung report.Rung) {
	if rung == report.Primary {
		r.Answered++
	} else {
		r.Cheaper++
	}
}

// Record is one attempt, when its caller has been answered. Instants are since
// the start of the run. It is valid until the function that it is shown to
// returns.
type Record struct {
	Stream        int
	Number        int64 // of the arrival in its stream
	Attempt       int   // 0 is the caller's first
	Class, Tenant string
	Importance    int
	Cost, Bytes   int64
	Counted       bool // not of the warm-up

	Scheduled  unit.Instant // of the caller's first attempt
	Arrived    unit.Instant
	HasStarted bool
	Started    unit.Instant // got its slot, if HasStarted
	Answered   unit.Instant // what Overhead adds is not in it
	Deadline   unit.Instant // that governs it
	Rung       string       // that answered: primary, one of its class's ladder, or refusal
	Reason     reason.Reason
	RetryAfter time.Duration
}

// Work is what an upstream did for one attempt. It ends after the attempt was
// answered where the caller has left and the upstream does not notice.
type Work struct {
	Stream     int
	Number     int64 // of the arrival in its stream
	Attempt    int
	Resource   string
	Copy       int // of the upstream, from 0
	Begun      unit.Instant
	Ended      unit.Instant
	Wasted     bool // its caller had been answered, or had left, by then
	Unfinished bool // the run ended first
}
