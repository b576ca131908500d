package pool

import (
	"time"

	"github.com/spillway-dev/spillway/policy/fair"
)

// Order says which of a tenant's waiters leaves first.
type Order uint8

// The orders.
const (
	// Adaptive is first come first served until the oldest waiter is twice as
	// old as the allowed wait, which proves that the room cannot drain in time;
	// from then on the newest goes first, since it alone can still make it,
	// until the oldest is young enough again (Maurer, "Fail at Scale", ACM
	// Queue 2015). Under ServeLate it turns also when the oldest has half a call's
	// time left, which proves the same.
	Adaptive Order = iota
	FIFO
	LIFO
)

var orderNames = [...]string{"adaptive", "fifo", "lifo"}

// String returns the order as the configuration writes it.
func (o Order) String() string { return orderNames[o] }

// WhenFull says what becomes of an arrival that finds the room full.
type WhenFull uint8

// The rules for a full room.
const (
	// Reject refuses the arrival.
	Reject WhenFull = iota
	// Drop throws best-effort work away and counts it.
	Drop
	// DropOldest evicts the oldest waiter of the arrival's own tenant, so
	// that a flood pushes out itself; if that tenant has none waiting, the
	// oldest in the room.
	DropOldest
	// Displace evicts the newest of the least important waiters, if it is
	// less important than the arrival.
	Displace
	// Block holds the producer for a while, in a second stage as bounded as
	// the room.
	Block
)

var whenFullNames = [...]string{"reject", "drop", "drop_oldest", "displace", "block"}

// String returns the rule as the configuration writes it.
func (w WhenFull) String() string { return whenFullNames[w] }

// Config is a class's pool. It is not changed after it was handed over.
type Config struct {
	// Slots are guaranteed; Borrow more may be taken of idle ones.
	Slots, Borrow int

	// Latency is the budget for wait and service together; Service is the
	// part of it that serving takes, measured when zero. Their difference is
	// the allowed wait. Latency <= 0 means no budget in time: memory alone
	// bounds the room.
	Latency, Service time.Duration
	// Bound, if positive, replaces the derived number of waiters.
	Bound int
	// MemoryLimit, in bytes, bounds what all waiters together may retain. Who
	// declares what it retains is charged that, who declares nothing
	// PerRequest; and no more may wait than fit at PerRequest each. Zero or
	// less: no limit, no charge.
	MemoryLimit, PerRequest int64

	Order Order
	// ServeLate says that who can no longer be answered in time is served all the
	// same, in its turn. A boundary sets it by its class.
	ServeLate bool
	// MaxAge is how long an item may be passed over before it is definitely
	// refused; zero or less: until its deadline.
	MaxAge time.Duration

	WhenFull WhenFull
	// BlockFor is how long Block holds a producer.
	BlockFor time.Duration

	// Levels is the number of importance levels, 1 .. LevelsMax; 0 counts
	// as 1. Level 0 is the most important: of a tenant's waiters it goes
	// first, and under Displace it is never evicted.
	Levels int
	// RetriesLast has a request that its caller has tried before be half a level
	// less important than a first try, and finds the room full for retries when
	// first tries have half of it left.
	RetriesLast bool

	Tenants TenantConfig
}

// LevelsMax is the most importance levels that a class can tell apart.
const LevelsMax = 16

// TenantConfig says how tenants share a pool.
type TenantConfig struct {
	Policy fair.Policy
	// Weights by tenant, at least 1; who is not listed has 1.
	Weights map[string]int
	// Ranks by tenant for fair.Priority, 0 first; who is not listed is last.
	Ranks map[string]int
	// Queue bounds how many of one tenant may wait; 0: the tenant's part of the
	// room, which is its part of the service.
	Queue int
	// Timed has a request cost what serving it takes, in microseconds: charged
	// as the mean so far, corrected when it ends. Costs that requests name are
	// not looked at.
	Timed bool
	// Keep is how many idle tenants are remembered, with their counts, the one
	// that was there last included; 0: KeepDefault. Those who wait or run are
	// always remembered.
	Keep int
}

// KeepDefault idle tenants cost about 500 bytes each.
const KeepDefault = 1024
