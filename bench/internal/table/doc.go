// Package table turns the rounds of a comparison into a table of ratios with
// their targets, and into an exit code.
//
// A ratio is always of two figures of the same round: on a machine whose speed
// drifts from minute to minute, figures of different rounds say nothing about
// each other, those of one round say nearly everything. What is judged is the
// median over the rounds; the extremes are printed beside it.
package table
