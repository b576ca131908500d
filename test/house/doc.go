// Package house holds the rules of the house as code: which room may import
// which, what keeps policy/ pure, and the few rules of style that a machine
// can judge.
//
// A [Tree] is the repository as text and syntax. A [Rule] reads a Tree and
// returns every [Finding]: file, line, what is wrong and what would be right.
// TestHouse runs [Rules] over this repository; each rule has a test of its own
// on a small synthetic tree that breaks it, so a rule that stopped biting is
// noticed.
//
// Where to start: rooms.go has the one table of rooms and arrows. To add a room
// add its row there and run `make docs`, which rewrites the table in
// docs/house.md. Exceptions live in ratchet.go, each with its reason; one that
// no longer excuses anything fails the test, so the list only ever shrinks.
package house
