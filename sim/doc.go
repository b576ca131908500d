// Package sim is policy made virtual: it drives the same machine as the live
// gate (policy/boundary), against a modelled upstream and modelled callers, in
// time that costs nothing. It decides nothing itself.
//
// A [Scenario] is one run whole: resources, what is offered to them, how the
// callers behave, a seed. [Run] plays it and returns the traffic report that
// every other command makes too, with what only a model can know beside it: how
// much work was done for callers who had left, how callers fared over all their
// attempts.
//
//	result, err := sim.Run(sim.Scenario{
//		Seed: 1, For: time.Minute, Names: names,
//		Resources: []sim.Resource{{
//			Boundary: boundary.Config{Name: "app", Classes: classes},
//			Upstream: sim.Upstream{Slots: 40, Service: service},
//		}},
//		Streams: []sim.Stream{{Source: source}},
//	}, nil)
//
// # The model
//
//	caller    offers a request at its scheduled instant; may hang up, and may
//	          try again after a refusal, a timeout or its own hanging up
//	boundary  runs, refuses or lets wait (Scenario.Unprotected leaves it out)
//	call      one call of the upstream, or as many attempts as the class's call
//	          policy makes (policy/call), each with dice of its own
//	upstream  so many slots, and a line without end, first come first served,
//	          for what it is sent beyond them; work whose caller is gone goes
//	          on to its end unless the upstream notices. Of several copies
//	          policy/spread chooses one, as it does for the gateway
//	ladder    what is not served goes down the class's ladder (policy/ladder): to
//	          earlier answers to the same key, to another resource, whose machine
//	          decides for it, or to a fixed answer
//
// Every attempt is a request of its own to boundary and report, as it is to a
// live gateway; [Callers] in the result joins the attempts of one caller again.
//
// # Ties
//
// Events of one instant are played in this order, and in the order of their
// making within each line:
//
//	ends of work         a slot that comes free is free for who arrives now
//	ends of patience     call timeouts, then callers who hang up, then callers who
//	                     use the client library, as their policy says
//	answers of the store  that keeps the budgets of quotas
//	arrivals             first attempts, by stream; then further attempts; then what
//	                     another resource is asked instead
//	changes              Scenario.Changes, then those of an upstream's capacity
//	wake-ups             what a machine does by itself, by resource
//	samples              Scenario.Sample sees the instant's outcome
//
// The machine brings itself up to an instant before it takes in an event, so
// that a deadline always beats an end at the same instant, and no driver's
// order of timers and events can change an effect. The live gate, whose events
// of one instant come in the order in which the scheduler runs them, therefore
// agrees with this table wherever at most one line of it concerns an instant.
//
// # Repeatability and cost
//
// Time is integer nanoseconds; chance comes from dice that belong to a request
// and an attempt, so that the same request meets the same luck in every arm of
// an experiment; nothing ranges over a map. One seed gives the same bytes of
// report on every processor and in WebAssembly, which a test holds it to.
//
// A request costs about 0.7 microseconds and no allocation once the run has
// reached its size, half of it in policy and report. Memory follows what waits and runs, never what has been.
// Run is not concurrent; two scenarios that share no source or names may be
// played at the same time.
package sim
