// Package dbfile opens SQLite files that are spillway's own: it finds out whose a
// file is before it writes a byte to it, makes it what it should be, and says what
// an error of SQLite means for whoever named the file.
//
// A file is marked with an application_id and has a version. It is kept in
// write-ahead mode and synced at every commit (synchronous FULL), so that what was
// committed survives the loss of power.
//
// The driver is github.com/ncruces/go-sqlite3: SQLite in Go, without cgo.
package dbfile
