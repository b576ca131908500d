package ledger

import "github.com/spillway-dev/spillway/policy/unit"

// Owner is a process that writes to the store and is taken for alive.
type Owner struct {
	Name string
	// Beat is one more each time it has said that it lives.
	Beat int64
	// Seen is when that was last, by the store's calendar: for whoever looks, nothing
	// is decided by it.
	Seen unit.Instant
}

// FleetRows is what a transaction sees of the processes that share a store.
type FleetRows interface {
	// Terms returns the quotas that the ledger holds, of version 0 if it holds none. In
	// an Update nobody else changes them until its end.
	Terms() (Terms, error)
	// SetTerms writes those of the version after the one that is there.
	SetTerms(t Terms) error
	// Owners returns who is taken for alive, in order of name.
	Owners() ([]Owner, error)
	AddOwner(o Owner) error
	// BeatOwner writes that an owner lives, and returns false if it is not there.
	BeatOwner(name string, seen unit.Instant) (bool, error)
	// DropOwner removes an owner, if it has said nothing since that beat.
	DropOwner(o Owner) error
	// Holders returns whose calls are reserved or started, whose jobs run, or who have a
	// lease, each once, in any order.
	Holders() ([]string, error)
}
