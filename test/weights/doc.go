// Package weights holds the test that copies of an upstream have their weights' part
// of the requests over real sockets and in virtual time alike, from the same file.
package weights
