// This program prints the fingerprint that dice_test.go compares between
// processors and WebAssembly.
package main

import (
	"fmt"

	"github.com/spillway-dev/spillway/workload/dice"
)

func main() { fmt.Printf("%016x\n", dice.Fingerprint(1, 1_000_000)) }
