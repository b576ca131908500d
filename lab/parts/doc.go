// Package parts is what rounds with real processes, sockets and clocks have in common,
// whatever lab plays them: processes that are started anew for each round and never
// outlive whoever started them, one clock for all of them, sleep that is sharp, and
// what there is to know of the machine before its times are believed.
//
// A round has parts. Each is this program, started anew, which then calls [Serve]:
// it is told on its standard input what it is for, where the part before it can be
// reached, when the round starts and that its result is wanted, and says on its
// standard output where it can be reached itself, then its result. Whoever started it
// holds the other end; a part ends when that closes. When one part ends early the
// others are ended with it.
//
//	bench := parts.NewBench(func(part string) *exec.Cmd { return exec.Command(self, "part", part) })
//	machine := bench.Settle(ctx)
//	err := parts.Run(ctx, bench, parts.Plan[Spec]{Parts: names, Spec: told}, &machine, func(t *live.Team) error {
//		return t.Result(2, &told)
//	})
//
// Instants of different processes are compared, which holds on one machine whose clock
// is not set between the start of two of them.
package parts
