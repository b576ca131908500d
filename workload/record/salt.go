package record

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
)

// keyMost is how many bytes of a name count.
const keyMost = 256

// salt hashes names so that who does not know it cannot try them out. The hash
// is the first 8 bytes of SHA-256 over 32 secret bytes and the name: a name is
// told from 2^32 others with even odds of one mix-up.
type salt [sha256.Size]byte

// newSalt returns the salt that a text stands for, or one that nobody knows.
func newSalt(text string) salt {
	if text == "" {
		var s salt
		rand.Read(s[:]) // which never fails
		return s
	}
	return sha256.Sum256([]byte("spillway recording salt\x00" + text))
}

// id tells salts apart without telling them.
func (s salt) id() string {
	sum := sha256.Sum256(append([]byte("spillway salt id\x00"), s[:]...))
	return hex.EncodeToString(sum[:6])
}

// key is hash of what is a number already; 0 for 0.
func (s *salt) key(n uint64) uint64 {
	if n == 0 {
		return 0
	}
	var room [sha256.Size + 8]byte
	copy(room[:], s[:])
	binary.LittleEndian.PutUint64(room[sha256.Size:], n)
	sum := sha256.Sum256(room[:])
	return max(1, binary.LittleEndian.Uint64(sum[:]))
}

// hash returns the number of a name; 0 for none.
func (s *salt) hash(name string) uint64 {
	if name == "" {
		return 0
	}
	var room [sha256.Size + keyMost]byte
	n := copy(room[:], s[:])
	n += copy(room[n:], name)
	sum := sha256.Sum256(room[:n])
	return max(1, binary.LittleEndian.Uint64(sum[:]))
}
