// Package policy holds spillway's decisions and nothing else.
//
// Every package below is a pure state machine: time, chance and measurements
// are arguments; a call answers with a verdict, the next instant at which that
// verdict could change, and effects as values for a driver to execute. There
// is no clock, lock, goroutine, channel, context, logger or I/O in here; a
// test reads the source and fails if one appears. That is what lets the live
// gate, the simulator, a table of instants in a test and a slider on a page
// all run this same code.
//
// Start reading at [github.com/spillway-dev/spillway/policy/boundary], which
// composes the rest into the whole way of a request:
//
//	unit, reason, chance, agenda, estimate   leaves: instants, the closed set of reasons, dice, due dates, measurements
//	fair                                     which tenant next
//	limit                                    how many slots
//	pool                                     slots, waiting room, bound, order
//	plan                                     arithmetic about a configuration, before any traffic
//	boundary                                 one machine a resource, composed of the above
package policy
