// Package calls measures what the policy around a call costs: spillway's caller beside
// failsafe-go's executor with the policies that do the same, around work that is nothing,
// in one process and one run. cmd/decide runs them in rounds and judges the ratios.
package calls
