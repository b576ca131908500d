// Package pipes connects a test's client to its server by pipes, so that both live in a
// synctest bubble, where a socket may not.
package pipes
