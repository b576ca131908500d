//go:build unix

package main

import (
	"os"
	"syscall"
)

// operatorSignal switches the classes that are marked for it.
var operatorSignal = []os.Signal{syscall.SIGUSR1}

// successorSignal has a new process take over.
var successorSignal = []os.Signal{syscall.SIGUSR2}
