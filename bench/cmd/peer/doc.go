// Command peer is the plain Go processes of a comparison:
//
//	peer upstream -slots 40 -service 10ms     what is protected: answers of 256 bytes
//	peer proxy -upstream URL                  a tuned httputil.ReverseProxy
//	peer proxy -upstream URL -as gateway      the same as the gateway drives it, without admission
//	peer refuse                               503 and nothing else
//
// Each listens on a free port of loopback (or -listen), says "listening ADDR"
// on its standard output, and runs until it is interrupted.
package main
