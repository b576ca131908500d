package trust

import (
	"crypto/sha256"
	"sync"
)

// digest is how a secret is remembered: by what it hashes to.
type digest = [sha256.Size]byte

// cacheMost is how many verified tokens are remembered, at most twice: about
// 2 MiB. Callers with more tokens than that at once have some verified again.
const cacheMost = 4096

// cache remembers what was verified, in two generations: when the younger is
// full it becomes the older, and what nobody has asked for since is forgotten.
// Only who holds a valid token can put anything in, so that nobody can push
// others out by guessing.
type cache[V any] struct {
	mu           sync.RWMutex
	young, older map[digest]V
}

func (c *cache[V]) get(d digest) (v V, ok bool) {
	c.mu.RLock()
	v, ok = c.young[d]
	if ok {
		c.mu.RUnlock()
		return v, true
	}
	v, ok = c.older[d]
	c.mu.RUnlock()
	if ok {
		c.put(d, v)
	}
	return v, ok
}

func (c *cache[V]) put(d digest, v V) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.young == nil || len(c.young) >= cacheMost {
		c.young, c.older = make(map[digest]V), c.young
	}
	c.young[d] = v
}
