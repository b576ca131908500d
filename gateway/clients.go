package gateway

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"

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
	return w.salt.key(byAddress, string(bytes[:]))
}

// named is the key of a caller by its name, within the kind of proof that named
// it: a key's holder is not a token's subject of the same name.
func (w *caller) named() rate.Key { return w.salt.key(byte(w.identity.By), w.identity.Name) }

// salt keeps clients' keys from being chosen: nobody can find an address that
// shares a place with another's who does not know it. It is drawn at random, and
// handed on to the process that takes over, where the same client has the same key.
type salt [16]byte

func newSalt() (s salt) {
	rand.Read(s[:]) // which never fails
	return s
}

// byAddress is the kind of a client that is known by its address; the others are
// kinds of proof.
const byAddress = 0xff

// key hashes a client's name, of one kind. It takes about a tenth of a microsecond and
// allocates nothing for names of up to nameMost bytes.
func (s *salt) key(kind byte, name string) rate.Key {
	var room [len(s) + 1 + nameMost]byte
	text := append(append(room[:0], s[:]...), kind)
	sum := sha256.Sum256(append(text, name...))
	return max(rate.Key(binary.LittleEndian.Uint64(sum[:])), 1)
}

const nameMost = 128
