// Command simulator measures simulated requests per second on one core, with
// everything on, beside the container/heap idiom, and the memory of a long run:
//
//	go run ./simulator              # 7 rounds of 1,000,000 requests at three loads, then 10,000,000
//	go run ./simulator -rounds 2 -requests 200000 -long 1000000 -gate=false
//
// Exit code 3 if a target is missed.
package main
