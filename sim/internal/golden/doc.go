// Package golden is one rich run whose report must be the same bytes on every
// processor: all that a scenario can have is in it. For tests only.
package golden
