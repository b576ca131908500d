// Package engine is the reverse proxy of the standard library, without
// admission: tuned as one would, and as the gateway drives it.
package engine
