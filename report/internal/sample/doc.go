// Package sample makes reports of small made-up services for the tests of text
// and html: enough of a queue to look like a run, and the same bytes always.
package sample
