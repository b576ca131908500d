// Package live plays rounds of lab strip with real processes, sockets and clocks.
//
//	tester   offers the round's keystrokes, open loop, by package load, and checks every
//	         answer
//	gateway  is what `spillway serve` is, on the file that the round names: shed, gap and
//	         ladder are those of its class
//	scorer   has slots and one line, first come first served; a keystroke holds its slot
//	         for the time of the round, and what it asks is answered by name
//
// The keystrokes are those of virtual time, with what they say of themselves as headers:
// X-Writer, X-Sentence and X-Gap, the question in the URL. [Bench.Play] returns what became
// of each; whoever makes figures of it does not know whether it was live.
//
//	bench := live.NewBench(func(part string) *exec.Cmd { return exec.Command(self, "part", part) }, 0)
//	outcomes, facts, err := bench.Play(ctx, round)
//
// Processes are fresh in each round and end with it: see lab/parts.
//
// # What is real and what is not
//
// Real are the gateway with all of its way, processes, scheduler, loopback connections and
// timers. The scorer sleeps the time of a keystroke, for a model is not what the lab is
// about; what it would suggest is known of each keystroke beforehand. It does not notice
// that a caller has gone. Times are the tester's: an answer counts from when its keystroke
// was due until the tester had read it.
package live
