//go:build !race

package strip

const raced = false
