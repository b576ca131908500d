//go:build !unix

package main

import "os"

// operatorSignal is none where there is no SIGUSR1: use spillway operate.
var operatorSignal []os.Signal

// successorSignal is none where there is no SIGUSR2.
var successorSignal []os.Signal
