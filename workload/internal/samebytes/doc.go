// Package samebytes runs a test's own program for other processors, and reads
// the compiler's listing, to see that a seed gives the same bytes everywhere.
package samebytes
