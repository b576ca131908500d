// Package limits puts other people's adaptive limiters, as they are published, into
// the world of lab limits, beside our law and the ones written from their papers.
//
// They read the clock themselves, so that the world runs inside a bubble of
// testing/synctest, whose clock is moved along with the simulation's: what takes half
// an hour in it takes seconds, and the same seed gives the same figures.
package limits
