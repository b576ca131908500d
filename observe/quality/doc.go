// Package quality adds up what those who got an answer say of it, by the rung that
// gave it: how much worse a cheaper answer is where it is given, in the words of the
// people it is given to.
//
//	book := quality.NewBook()
//	primary := book.Rung("search", "primary")
//	...
//	book.Remember(id, primary.Of(gap, false))   // when it is answered
//	...
//	book.Judge(id, 0.8)                         // when its caller says so
//
// # A population, not a blend
//
// Whoever is shed is not like whoever is not: it is shed because a cheaper answer
// costs it least. Figures are therefore kept by bucket of the gap, and what was shed
// for load apart from what fell back after a failure. Within one bucket who is shed
// and who is served is decided by a hash of the session alone, so that the two can be
// compared; over all buckets they can not.
//
// # What is bounded
//
// The latest RememberedMost answers are remembered, by a hash of their id, about 50
// bytes each. Each is judged once. Figures are as many as rungs are configured, times
// buckets. All methods may be called by many goroutines at once; Remember takes some
// 100 ns behind one of 16 locks.
package quality
