// Package sse splits a stream of server-sent events (the event stream format of the
// WHATWG HTML standard, 9.2) into frames as it passes, wherever the pieces in which it
// comes are cut: within a line ending, a word, a character.
//
// A frame is kept only while it is not whole, up to a bound ([Splitter.Most]); one
// that came whole in a piece is not copied. Of one that is longer the bytes are let
// through as they come, and nothing is read in it.
//
// A Splitter is for one goroutine. What it yields is valid until it is fed again.
package sse
