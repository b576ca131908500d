// Package portable has a logarithm and an exponential that give the same bits
// on every processor and in WebAssembly.
//
// math.Log and math.Exp do not: they are assembly on some processors, and the
// compiler may fuse x*y+z into one rounding where the hardware can. Here only
// IEEE 754 addition, subtraction, multiplication and division are used, each
// product wrapped in a float64 conversion, which the Go specification
// guarantees to round and so forbids fusing.
//
// Both functions are within 2 units in the last place of the true value, are
// safe for concurrent use and allocate nothing.
package portable
