// Package samebytes checks that code gives the same bits on processors that are
// not here, by looking at what the compiler makes of it. For tests only.
package samebytes
