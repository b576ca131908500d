// Package decision measures what a decision costs: spillway's rooms beside the
// peers that do the same, in one process and one run. Ours and theirs stand
// next to each other in the source, so that they run within seconds of each
// other; cmd/decide runs them in rounds and judges the ratios.
package decision
