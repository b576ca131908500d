// Package postgres keeps a ledger in PostgreSQL, so that several gateways share
// quotas: what one takes, none of the others has.
//
//	store, err := postgres.Open(ctx, "postgres://spillway@db/spillway")
//	...
//	l, err := ledger.Open(ctx, store, "gateway-1-4711")
//
// # Decisions
//
// The rows that a transaction touches are locked in one order, attempts by id and
// then budgets by name, loaded, decided upon by policy/quota in this process, and
// written back, all of a group with a few statements; no arithmetic is done in SQL.
// A transaction that the database breaks off so that another can go on (40001,
// 40P01, and 23505 where two make the same row) is run again.
//
// # Time
//
// Time is the database's own clock and not believed either: every budget has the
// instant at which it was last seen, by that clock, and what passes between two
// looks counts where it is more than nothing.
//
// # Connections
//
// No statement is prepared and no session has a state: no advisory lock but one that
// ends with its transaction, no LISTEN, no SET that outlives it. So the store works
// behind a pooler that hands out a connection for each transaction. A database that
// is gone is an error of every transaction; when it is back, they work again.
package postgres
