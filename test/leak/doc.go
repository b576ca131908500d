// Package leak lets a test compare what the process holds before and after it: its
// goroutines, its descriptors, its live heap.
//
//	before := leak.Held()
//	... // a million calls
//	before.Left(t, leak.Slack{Goroutines: 10, Heap: 16 << 20})
//
// A timer that is never stopped, a body that is never closed and a context that is hooked
// on to its parent for ever are all live memory, if no goroutine; over many calls they add
// up to more than any slack.
package leak
