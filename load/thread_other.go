//go:build !linux

package load

// sharpenThread has nothing to do here.
func sharpenThread() {}
