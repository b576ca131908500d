//go:build race

package need

// Race reports whether tests run with the race detector, under which they are several
// times as slow and allocate what they else do not.
const Race = true
