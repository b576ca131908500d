// Package expr is the room of expressions: what of a request decides, written in
// CEL (the Common Expression Language, https://cel.dev) where a key of the
// configuration takes one. [Compile] turns a text into a [Program], once, when the
// configuration is read: its types are checked, and what it can cost at most is
// known from then on. A program asks a [Request] for what it names and for nothing
// else, so that a request of which little is asked costs little.
//
//	p, err := expr.Compile(expr.Gap, `size(query.q) >= 4 ? 0.1 : 0.9`)
//	...
//	gap, err := p.Number(request)
//
// # What can be said
//
// The standard library of CEL without functions that this package does not bound:
// of strings ==, <, in, +, size, contains, startsWith, endsWith, matches, int, double;
// has; exists, exists_one, all, filter and map over lists. Of the request:
//
//	method, host, path   host in lower case and without port, the path decoded
//	query, headers       by name: query.q, headers['X-Kind']; what is not there is ""
//	size                 bytes of the body as declared; -1 where it is not
//	class, tenant, session   not in a condition, which comes before they are known
//
// # What is bounded
//
// A text has at most [LengthMost] bytes. A value of the request is given up to its
// first [ValueMost] bytes. What an expression can cost with values of that size, in
// CEL's own units, is worked out when it is compiled, and more than [CostMost] is
// refused: there is nothing left to be watched while it runs. There are no loops but
// those over lists, a pattern of matches is a constant, and query and headers cannot
// be gone through. Nothing that a caller sends makes a program panic; what an
// expression cannot do with it (int("x")) is an error of that evaluation.
//
// The build tag nocel leaves the language and its library out, most of what a
// WebAssembly build would weigh: then [Compile] refuses every text.
//
// A Program is safe for concurrent use.
package expr
