// Package latency reads what calls took, class by class, so that a timeout can be
// proposed from it (policy/plan).
//
//	classes, err := latency.FromTrace(reader) // a recording, an access log, a table
//	one, err := latency.FromList(file)        // one duration a line: 2.9ms
//
// A [Sample] is bounded: beyond [SampleMost] calls every second, fourth, eighth ... is
// kept, evenly over the whole file, so that a tail of one in a thousand still rests on
// sixty calls.
//
// What was measured is what callers saw while the limits of that time held: a call that
// was cut off counts with the time at which it was, and a request of a recording that
// never ran counts with the time of another.
package latency
