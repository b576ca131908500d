package rungs

import (
	"net/http"
	"time"
)

// Copy takes down an answer while it passes by. A nil Copy takes nothing. It has one
// owner, and is finished by Done or forgotten by Drop.
type Copy struct {
	cache *Cache
	key   string
	at    string // of the names in varies, "" if there are none
	of    *stored
	names []string
	began time.Time
	held  int64 // of cache.copying
	most  int64
	whole int64 // what the body's length is to be; -1: not said
}

// Begin begins to take down an answer, or returns nil where it may not be kept. began
// is when its call did; h is not kept, nor changed. length is the body's, -1 if that
// is not said.
func (c *Cache) Begin(a *Ask, status int, h http.Header, length int64, began time.Time) *Copy {
	t, ok := c.cfg.storable(a.Request, status, h)
	if !ok || length > c.cfg.MaxBody {
		return nil
	}
	names, ok := c.cfg.varies(h)
	if !ok {
		return nil
	}
	age := initialAge(h, time.Now())
	if age > t.fresh+t.stale {
		return nil
	}
	k := &Copy{
		cache: c, key: c.cfg.key(a), names: names, began: began, most: c.cfg.MaxBody, whole: length,
		of: &stored{status: status, header: kept(h), age: age, fresh: t.fresh, stale: t.stale},
	}
	if len(names) > 0 {
		k.at = variant(k.key, names, a.Header)
	}
	if length > 0 && k.hold(length) {
		k.of.body = make([]byte, 0, length)
	}
	return k
}

// hold takes n more bytes of what all unfinished copies may hold; where there are
// none left, or the answer has become too large, the copy is dropped.
func (k *Copy) hold(n int64) bool {
	if k.held+n > k.most || k.cache.copying.Add(n) > k.cache.cfg.Memory {
		if k.held+n <= k.most {
			k.cache.copying.Add(-n)
		}
		k.Drop()
		return false
	}
	k.held += n
	return true
}

// Write takes down a piece of the body. It never fails.
func (k *Copy) Write(p []byte) {
	if k == nil || k.of == nil || len(p) == 0 {
		return
	}
	if need := int64(len(k.of.body)+len(p)) - k.held; need > 0 {
		if k.whole >= 0 {
			k.Drop() // longer than it said: it is not what it seemed
			return
		}
		// By doubling, as far as that is allowed.
		if !k.hold(max(need, min(k.held, k.most-k.held), min(4096, k.most-k.held))) {
			return
		}
		k.of.body = append(make([]byte, 0, k.held), k.of.body...)
	}
	k.of.body = append(k.of.body, p...)
}

// Done keeps the answer, whose body has come to its end.
func (k *Copy) Done() {
	if k == nil || k.of == nil {
		return
	}
	of := k.of
	k.Drop()
	if k.whole >= 0 && int64(len(of.body)) != k.whole {
		return
	}
	if n := len(of.body); cap(of.body) > n+n/8 {
		of.body = append(make([]byte, 0, n), of.body...) // what is kept is what is counted
	}
	took := time.Since(k.began)
	if k.at == "" {
		k.cache.answers.PutAged(k.key, of, took)
		return
	}
	k.cache.answers.PutAged(k.key, &stored{varies: k.names}, took)
	k.cache.answers.PutAged(k.at, of, took)
}

// Drop forgets the answer. It may be called at any time.
func (k *Copy) Drop() {
	if k == nil || k.of == nil {
		return
	}
	k.cache.copying.Add(-k.held)
	k.held, k.of = 0, nil
}
