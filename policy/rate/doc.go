// Package rate is what one client may ask at the edge, before any class's room
// is looked at: so many requests per time, so many at once.
//
//	Rule    the limit: a burst, an interval, a cap on what is under way
//	Table   who has asked how much, in a memory that is fixed when it is made
//
// # The law
//
// A client's bucket is one instant, the one at which it is full again (GCRA,
// the virtual scheduling algorithm of ITU-T I.371, section A.1):
//
//	full     = when the bucket is full again, in the past if it is
//	slack    = (burst - 1) x interval
//	admitted = max(full, now) - slack <= now
//	then       full = max(full, now) + interval
//	refused    until max(full, now) - slack
//
// so that over any time t no client is admitted more often than burst +
// t / interval, and a refusal knows to the nanosecond when it will not be one.
// Who was refused several times is told several instants, an interval apart:
// each will be free when it comes.
//
// # Ten million addresses
//
// The table is as large as it was made and never grows: a client has its place
// in a set of four, and a newcomer to a full set takes the place of the one
// whose bucket is full the soonest. A full bucket says nothing that an unknown
// client's does not, so nothing is lost until more clients are active at once
// than there are places; beyond that a client that was forgotten early begins
// with a full bucket, one burst more than it should have, and is counted
// (Table.Early). The busiest of a set is forgotten last: a flood of addresses
// that ask once each pushes out itself. Who has requests under way is not
// forgotten; where all four have, the newcomer is let in and not remembered. So
// nobody is ever refused for what others ask.
//
// A [Key] stands for a client: 64 bits of a hash of its name or address, salted
// by the driver so that nobody can choose whom to share a place with. Two
// clients share a bucket if all 64 bits agree: with ten million active at once
// the chance that any two do is three in a million.
//
// Asking takes constant time, two cache lines, and allocates nothing. Nothing
// here is safe for concurrent use.
package rate
