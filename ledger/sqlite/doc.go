// Package sqlite keeps a ledger in a SQLite file: nothing to install, one gateway a
// file.
//
//	store, err := sqlite.Open("spillway.db")
//	...
//	l, err := ledger.Open(ctx, store, "gateway-1-4711")
//
// The file is in write-ahead mode and synced at every commit (synchronous FULL):
// what was acknowledged survives kill -9 and the loss of power. Write transactions
// are immediate and have one connection; readers have another and see what was
// committed when they began, so neither waits for the other. A lock beside the
// file (its name with .lock) is held while it is open: a second gateway on the same
// file is refused, since two that decide each for itself would spend twice. Other
// programs may read the file, and back it up, while it is in use.
//
// The store's clock is this machine's, taken as [ledger.Clock] says; where it stood
// is in the file.
package sqlite
