//go:build !linux

package load

// sharpenTimers has nothing to do here.
func sharpenTimers() {}
