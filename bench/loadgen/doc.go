// Command loadgen measures how well our load generator keeps to its schedule
// beside vegeta with 256 workers: the same schedule, the same target, the same
// round, each generator alone on one core with GOMAXPROCS=1 and the target on
// another:
//
//	go run ./loadgen                # 5 rounds of 3 s each
//	go run ./loadgen -rounds 1 -length 1s -gate=false
//
// Lag is the instant of sending minus the instant that the schedule wanted.
// Exit code 3 if a target is missed.
package main
