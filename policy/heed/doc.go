// Package heed is what is made of what a service says of itself while it is called:
// that it has no room and is to be left alone for a while, or how much is left of the
// limits it holds us to.
//
//	Route       one service, as far as it has said something
//	Pause       it has no room: until then nobody asks it
//	Told        so much is left of a limit, and it is full again by then
//	Admit       may a call that takes so much be sent, and if not, when
//	Took        one was sent
//
// # Pauses
//
// A pause never becomes shorter: of several answers the latest instant counts, however
// they overtake each other. A service that does not say how long is left alone for a
// second, and each time in a row twice as long, up to a minute. Whoever is refused by
// a pause loses nothing: no budget was taken.
//
// # Limits
//
// What a service says is left can only lower what our own budgets allow, never raise
// it: a call needs room in both. Between two answers the limit is taken to fill evenly
// until the instant at which it is said to be full, less what has been sent since. After
// that instant nothing is known of it. A call that takes more than the limit itself is
// let through when the limit is full: the service is the judge of its own estimate.
//
// A Route is one value with one owner at a time; all of it is constant in time and
// space, and nothing is allocated.
package heed
