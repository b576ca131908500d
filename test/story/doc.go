// Package story compares what happened with what a file tells: tests that are told in
// files, each a story of prose, events and what they bring about.
package story
