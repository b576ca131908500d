// Package decisions remembers why requests were refused, turned out or answered
// late, so that an operator can ask afterwards.
//
//	log := decisions.New(4096)
//	gate.New(cfg, gate.WithCases(func(class, id string, x *boundary.Case) {
//		log.Add("app", class, id, x)
//	}))
//	...
//	for _, d := range log.Find(decisions.Query{ID: id}) {
//		fmt.Print(d.Text())
//	}
//
// # What is kept
//
// A fixed number of decisions, whatever is offered. When there is no place for one
// more, the oldest goes of what there is most of: of the class and reason with the
// most decisions and, of those, of the share of tenants with the most. So a flood
// of one kind pushes out only itself, and what is rare stays: the one request of a
// class that expired is still there after a million of another's that were turned
// away at a full room. A tenant that floods pushes out its own and those of one in
// sixteen of the others. Decisions may have an age, too, after which they are
// forgotten; that and their number can be changed at any time ([Log.Keep]).
//
// # Cost
//
// Adding takes a fraction of a microsecond, under a lock of the log's own, and
// allocates only for a class and reason that is new. A decision takes about 700
// bytes. Everything here may be used by many goroutines at once.
package decisions
