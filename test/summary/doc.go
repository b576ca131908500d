// Command summary reads the JSON of one or more `go test -json` runs on standard
// input and says what a person wants to know at the end: what failed, with its
// output; which packages were slowest; what was skipped and why; and a closing
// line
//
//	N passed, N failed, N skipped
//
// A test with subtests counts as its subtests do. A package that did not build,
// crashed, or ran out of time counts as one failure beside those of its tests.
// With -strict a skip is a failure, unless the file named by -allow excuses it
// with a reason. Steps outside `go test` join in with -failed and -skipped.
//
// It exits 1 when anything failed or no test ran.
package main
