// Command overload measures what is left of a service's capacity when it is
// offered 2, 5 and 10 times as much with spillway in front, and what becomes of
// checkout when analytics floods the same service:
//
//	go run ./overload               # 3 rounds of 20 s a case
//	go run ./overload -rounds 1 -length 3s -gate=false
//
// The service (cmd/peer) works on a known number of requests at once, each for
// a known time, give or take a fifth; what it can do is measured in the same round, straight and
// saturated. Two more services are reported: one whose every request takes exactly
// as long, so that all its slots come free in the same millisecond for ever and two
// cores hand forty over at once, and one that takes only ten times as long as two
// processes need to hand over a slot. The load generator is ours, open-loop. Total rates stay at 5,000/s
// and below, which service, gateway and generator can do together on two cores.
// Exit code 3 if a target is missed.
package main
