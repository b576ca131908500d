// Package copies keeps the copies of one upstream: where they are, whether they
// are well, and the connections to them. Which copy takes a request, and which is
// left out, policy/spread decides; everything that touches the network is here.
//
//	set, err := copies.New(copies.Config{Name: "app", URLs: urls})
//	...
//	set.Start()
//	defer set.Close()
//	c, ok := set.Take(nil) // in flight at c from now on
//	...
//	res, err := c.Transport(false).RoundTrip(req) // or c.Dial(ctx) for a bare connection
//	c.Judge(copies.OutcomeOf(res.StatusCode), took)
//	...
//	c.Done() // the copy has nothing more to do for it
//
// Every Take is followed by exactly one Done, and by at most one Judge before it.
// They are two, because a caller can be answered at its deadline while the copy
// works on: it is judged late then, and done later.
//
//	set      the copies, under one lock: take, judge, done
//	resolve  names become addresses, again and again; copies come and go
//	dial     a connection to a copy, counted and capped
//	tls      certificates, read again when their files change; errors in words
//	check    active checks, on connections of their own
//	grpc     what a check of a gRPC service says and hears
//	state    what operators see
//
// One goroutine looks names up, if there are any, and one for each copy checks it, if
// checks are asked for. They end with Close.
package copies
