// Package onfile keeps stores of stand-ins in a SQLite file, so that a program that
// starts again begins with what it knew.
//
//	f, err := onfile.Open("scores.db", onfile.Options{})
//	...
//	defer f.Close()
//	err = onfile.Keep(f, "scores", scores, onfile.JSON[float64]())
//
// [Keep] reads what the file has of a store, newest first, as much as the store's
// limits allow; from then on what changes is written behind, by one goroutine of
// the file's, in one transaction a second. No Put and no Get waits for the disk.
//
// # What a crash loses
//
// A process that is killed loses what was put in its last Every (default one
// second) and while that transaction ran; a machine that loses power loses no more
// than that, because each transaction is synced before it counts. What was evicted
// before it was written, and a deletion in that last second, are lost likewise.
//
// # The file
//
// One file may hold several stores, and be open in two processes at once, as it is
// while one takes over from another: the newer entry wins. It is marked as
// spillway's (application_id), has a version, and holds per store no more than the
// store's limits. A file of another program, a damaged one and one of a later
// version are refused with an error that says so; nothing is written to them.
//
// The driver is github.com/ncruces/go-sqlite3: SQLite in Go, without cgo.
package onfile
