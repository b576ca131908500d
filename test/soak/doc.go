// Package soak lets a gateway live through everything at once: three times what
// its service can do, a reload each second, callers that hang up at random, a
// service that panics, freezes and breaks off, certificates that are replaced. At
// the end nothing may be left: no slot, no goroutine, no descriptor, no byte; the
// accounts close and whoever was served was served in time.
//
// A minute of it by default (`make test`), half an hour with `make soak`.
package soak
