//go:build race

package caller_test

const raceEnabled = true
