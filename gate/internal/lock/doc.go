// Package lock is a sync.Mutex whose waiters look again for some twenty microseconds
// before they sleep. It is for what is held for a tenth of one: to put a goroutine to
// sleep and wake it costs both sides ten, a good part of them the one who gives the lock
// back.
//
// They look seldom: each look takes the lock's cache line from the core that works
// under it, which has to fetch it back before it can go on (200 ns from one socket to
// another), and whoever only just gave the lock back gets it again meanwhile with all
// that it guards still in its caches. And they look before they try, for a try takes the
// line whether or not it succeeds.
package lock
