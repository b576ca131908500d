package trust

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"sync/atomic"
	"time"
)

// keyMost bounds an API key in bytes; ours take 55.
const keyMost = 256

// keysEvery is how often a key file is looked at: how long a key may still be
// used that was revoked. Looking costs one system call.
const keysEvery = time.Second

// keys are the API keys in force. They are found by hash: what a caller sends
// steers no comparison with a secret, and no time tells it how close it came.
type keys struct {
	path   string
	roles  *roles
	byHash atomic.Pointer[map[digest]*held]
	seen   time.Time // when the file that was read last was written
	size   int64
}

// held is a key and whom it stands for.
type held struct {
	Entry
	Identity
}

func openKeys(path string, r *roles) (*keys, error) {
	k := &keys{path: path, roles: r}
	return k, k.load()
}

// load reads the file. On error what was read before stays in force.
func (k *keys) load() error {
	info, err := os.Stat(k.path)
	if err != nil {
		return err
	}
	f, err := LoadKeys(k.path)
	if err != nil {
		k.seen, k.size = info.ModTime(), info.Size() // to be told once, not every second
		return err
	}
	all := make(map[digest]*held, len(f.Keys))
	for _, e := range f.Keys {
		var d digest
		hex.Decode(d[:], []byte(e.Hash)) // it was checked
		id := Identity{Sources: Key, By: Key, Name: e.Name, Tenant: e.Tenant}
		k.roles.assign(&id, "key", []string{e.Role})
		all[d] = &held{e, id}
	}
	k.byHash.Store(&all)
	k.seen, k.size = info.ModTime(), info.Size()
	return nil
}

// refresh reads the file again if it was written since.
func (k *keys) refresh() (changed bool, err error) {
	info, err := os.Stat(k.path)
	if err != nil {
		return false, err
	}
	if info.ModTime().Equal(k.seen) && info.Size() == k.size {
		return false, nil
	}
	return true, k.load()
}

// verify returns whom a key stands for. It takes one SHA-256.
func (k *keys) verify(key string, now time.Time) (*Identity, Failure) {
	if len(key) > keyMost {
		return nil, Malformed
	}
	h := (*k.byHash.Load())[sha256.Sum256([]byte(key))]
	if h == nil {
		return nil, UnknownKey
	}
	if why := h.failure(now); why != Held {
		return nil, why
	}
	return &h.Identity, Held
}
