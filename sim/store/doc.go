// Package store is the caller's side made virtual: a service asks a dependency
// once for each request, policy/call decides how, and the dependency is a model.
// It decides nothing itself.
//
//	tester    offers requests at scheduled instants through so many senders; a
//	          request without one waits for the next that is free
//	service   drives call.Dependency: sends lookups, cuts them off, asks again,
//	          answers; what the answer itself costs is Scenario.Rest
//	store     slots and one line, first come first served, in one copy or several
//	          (policy/spread chooses). How long a lookup holds its slot was drawn
//	          beforehand, for each request and each attempt
//
// The store does not notice that a caller has gone: what it was sent runs out its
// drawn wait. With Scenario.Travels the limit of an attempt goes along, and the
// store stops at it, in the line and in the slot. With Store.Guarded a
// policy/boundary machine stands in front of each copy, as spillway would.
//
//	run, err := store.New(scenario)
//	sums, err := run.Play(watch)
//
// # Dice
//
// [Draws] holds everything that chance decides in a round: arrivals, waits,
// customers, busy times. Nothing of it depends on what is asked of the store, so
// that every arm of an experiment meets the same dice, in virtual time and live:
// the third attempt of request 17 waits as long whether it is sent at once or
// after a pause. Draws are integers but for the gaps between arrivals, which are
// those of workload/dice.
//
// # Ties
//
// Of one instant: lookups that end (a slot is free for whoever is sent now),
// lookups that stop at their limit, what the service does by itself, senders that
// come free, arrivals, guards that wake.
//
// A lookup costs about 0.7 microseconds, policy included, and no allocation once the run
// has reached its size. Nothing here is safe for concurrent use; runs that share
// nothing but Draws may be played at the same time.
package store
