//go:build !unix

package edge

import "io/fs"

func closeOnExec(int) {}

func chmodSocket(uintptr, fs.FileMode) error { return nil }
