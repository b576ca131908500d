// Command proxy measures the gateway against its peers on loopback, each in a
// process of its own, in rounds:
//
//	go run ./proxy                  # 7 rounds of 5 s for each of 7 arms
//	go run ./proxy -rounds 2 -length 1s -gate=false
//
// wrk offers what 64 kept-alive connections carry; the upstream answers 256
// bytes. Cost is the user and system time of the proxy's process, divided by
// its requests. Markdown on standard output, progress on standard error, exit
// code 3 if a target is missed.
package main
