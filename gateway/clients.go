package gateway

import (
	"hash/maphash"

	"github.com/spillway-dev/spillway/policy/rate"
)

// client returns who asks, for client limits: who is verified if that counts,
// else the network that its address is in. 0 is not limited: where nobody is, who
// is exempt, and who has no address because it came by a unix socket.
func (w *caller) client() rate.Key {
	c := &w.clients
	if !c.Limited {
		return 0
	}
	addr := w.origin.Client
	for _, n := range c.Exempt {
		if n.Contains(addr) {
			return 0
		}
	}
	if c.ByIdentity && w.identity.Verified() {
		return w.named()
	}
	if !addr.IsValid() {
		return 0
	}
	bits := c.IPv6
	if addr.Is4() {
		bits = c.IPv4
	}
	network, _ := addr.Prefix(bits) // the configuration was checked
	bytes := network.Addr().As16()
	return w.salted(bytes[:])
}

// named is the key of a caller by its name, within the kind of proof that named
// it: a key's holder is not a token's subject of the same name.
func (w *caller) named() rate.Key {
	var h maphash.Hash
	h.SetSeed(w.salt)
	h.WriteByte(byte(w.identity.By))
	h.WriteString(w.identity.Name)
	return max(rate.Key(h.Sum64()), 1)
}

// salted hashes a client's name with the process's salt: nobody can choose an
// address that shares a place with another's.
func (w *caller) salted(name []byte) rate.Key {
	return max(rate.Key(maphash.Bytes(w.salt, name)), 1)
}
