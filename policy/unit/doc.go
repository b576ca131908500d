// Package unit names the quantities that every policy speaks of, each as an
// integer type, so that a cost is never added to an instant.
package unit
