package edge

import (
	"net"
	"net/netip"
	"sync"
	"sync/atomic"
)

// Caps bounds callers' connections, in total and of one address. An IPv6 address
// counts as its /64, of which one caller commonly has all. Memory is bounded by
// the total. It may be used by many goroutines; a decision costs well under a
// microsecond.
type Caps struct {
	mu         sync.Mutex
	total      int
	perAddress int
	open       int
	by         map[netip.Prefix]int

	// RefusedTotal and RefusedAddress count connections that were closed as they
	// came.
	RefusedTotal, RefusedAddress atomic.Int64
}

// NewCaps bounds connections to total, and to perAddress of one address.
func NewCaps(total, perAddress int) *Caps {
	return &Caps{total: total, perAddress: perAddress, by: make(map[netip.Prefix]int)}
}

// Set changes the bounds. Connections above a lowered one stay.
func (c *Caps) Set(total, perAddress int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.total, c.perAddress = total, perAddress
}

// Open returns how many connections there are.
func (c *Caps) Open() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.open
}

// enter takes in a connection whose caller is not known yet.
func (c *Caps) enter() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.open >= c.total {
		c.RefusedTotal.Add(1)
		return false
	}
	c.open++
	return true
}

// from counts the connection for its caller. Where there is no address, as on a
// unix socket, only the total counts.
func (c *Caps) from(who netip.Prefix) bool {
	if !who.IsValid() {
		return true
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.by[who] >= c.perAddress {
		c.RefusedAddress.Add(1)
		return false
	}
	c.by[who]++
	return true
}

// leave undoes enter, and from if who is valid.
func (c *Caps) leave(who netip.Prefix) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.open--
	if !who.IsValid() {
		return
	}
	if c.by[who]--; c.by[who] == 0 {
		delete(c.by, who)
	}
}

// callerOf is who counts as one caller.
func callerOf(a net.Addr) netip.Prefix {
	t, ok := a.(*net.TCPAddr)
	if !ok {
		return netip.Prefix{}
	}
	addr := t.AddrPort().Addr().Unmap().WithZone("")
	bits := 64
	if addr.Is4() {
		bits = 32
	}
	p, err := addr.Prefix(bits)
	if err != nil {
		return netip.Prefix{}
	}
	return p
}
