//go:build race

package strip

// raced: the race detector makes everything some ten times as slow.
const raced = true
