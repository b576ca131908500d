package workload

import "time"

// Arrival is one request that is offered. A source overwrites all of it.
type Arrival struct {
	N          int64         // its number within the outermost source, from 0
	At         time.Duration // since the start of the offered load; never decreases
	Service    time.Duration // how long the primary holds a slot when nothing is wrong; 0 if the source cannot say
	Deadline   time.Duration // what the caller allows, from At; 0 if it names none
	Cost       int64         // in the tenant's units of fairness (requests, tokens); at least 1
	Bytes      int64         // of the request's body, held while it waits; 0 if there is none
	Session    uint64        // an opaque number; 0 is no session
	Key        uint64        // what is asked, an opaque number: one question has one answer; 0 is not known
	Stretch    uint64        // of the session, an opaque number: a sentence, a conversation; 0 if it has no parts
	Gap        int32         // how much worse a cheaper answer is for it, in millionths
	Class      Name          // of Names.Classes; 0 is whatever matches first
	Tenant     Name          // of Names.Tenants; 0 is the one tenant of who names none
	Importance int32         // 0 is the highest, as the first of a class's levels
}

// Source streams arrivals. Next fills a and returns true, or returns false at
// the end and ever after. A source that can fail (a trace) also has a method
// Err() error; ask Err of this package, which reaches through every wrapper.
//
// A source is not safe for concurrent use.
type Source interface {
	Next(a *Arrival) bool
}

// Err returns why source ended early, or nil if it has not or has nothing to
// say of it.
func Err(source Source) error {
	if s, can := source.(interface{ Err() error }); can {
		return s.Err()
	}
	return nil
}

// SourceFunc is a function as a Source.
type SourceFunc func(a *Arrival) bool

// Next calls f.
func (f SourceFunc) Next(a *Arrival) bool { return f(a) }

// Slice returns a source of these arrivals, which must be in order of time. It
// numbers them.
func Slice(arrivals []Arrival) Source {
	i := 0
	return SourceFunc(func(a *Arrival) bool {
		if i == len(arrivals) {
			return false
		}
		*a = arrivals[i]
		a.N = int64(i)
		i++
		return true
	})
}
