package rungs

import (
	"cmp"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/spillway-dev/spillway/gate/standin"
)

// CacheConfig is a rung of earlier answers. Zero bounds take their defaults.
type CacheConfig struct {
	// TTL is how long an answer is fresh that names no time itself, and StaleFor how
	// much longer one may be used that says nothing of stale-if-error.
	TTL, StaleFor time.Duration
	// Override has TTL and StaleFor hold whatever an answer says of its freshness and
	// of being asked for again, and keeps answers to requests with Authorization, for
	// the same authorization. no-store, private, Set-Cookie and Vary: * hold all the
	// same.
	Override bool
	// MaxBody is the largest body that is kept. Default MaxBodyDefault.
	MaxBody int64
	// Memory is what all of it may take; as much again is the most that answers may
	// take that are being copied. Default standin.BytesDefault.
	Memory int64
	// Ignore lists further request headers that do not decide what the answer is, in
	// canonical form.
	Ignore []string
}

// MaxBodyDefault is the largest body that is kept where nothing is said.
const MaxBodyDefault = 1 << 20

// answerLeast is about what the smallest answer takes; it bounds their number.
const answerLeast = 512

// stored is an earlier answer, or which headers tell several apart. It is not changed
// once made.
type stored struct {
	status int
	header http.Header
	body   []byte

	age          time.Duration // when its call began
	fresh, stale time.Duration

	varies []string // then all else is empty
}

func (s *stored) size() int { return len(s.body) + sizeOf(s.header) + 200 + 32*len(s.varies) }

// Cache holds earlier answers. It is safe for concurrent use; see standin.Store for
// what it costs.
type Cache struct {
	cfg     CacheConfig
	answers *standin.Store[*stored]
	voided  *standin.Store[struct{}] // by place: when what was kept until then became void
	copying atomic.Int64             // bytes that unfinished copies hold
}

// NewCache returns an empty one.
func NewCache(cfg CacheConfig, journal bool) *Cache {
	cfg.MaxBody = cmp.Or(cfg.MaxBody, MaxBodyDefault)
	cfg.Memory = cmp.Or(cfg.Memory, standin.BytesDefault)
	return &Cache{
		cfg: cfg,
		answers: standin.New(standin.Options[*stored]{
			Limits: standin.Limits{Entries: int(cfg.Memory / answerLeast), Bytes: cfg.Memory},
			Size:   (*stored).size, Journal: journal,
		}),
		// Each place fits, so that none is ever evicted.
		voided: standin.New(standin.Options[struct{}]{Limits: standin.Limits{Entries: voidPlaces * 64}, Journal: journal}),
	}
}

// Stats returns what it holds and did.
func (c *Cache) Stats() standin.Stats { return c.answers.Stats() }

// lookup returns the earlier answer for a request, how old it is, and whether it may
// be used now.
func (c *Cache) lookup(a *Ask) (s *stored, age time.Duration, ok bool) {
	if !mayAskAgain(a.Request) {
		return nil, 0, false
	}
	key := c.cfg.key(a)
	s, since, ok := c.answers.Get(key)
	if ok && s.varies != nil {
		s, since, ok = c.answers.Get(variant(key, s.varies, a.Header))
	}
	if !ok || s.varies != nil || c.void(a, since) {
		return nil, 0, false
	}
	age = s.age + since
	return s, age, age <= s.fresh+s.stale
}

// mayAskAgain reports whether a request can be given an earlier answer to a GET. One
// that wants something done only if it is still as it knows it is for the upstream.
func mayAskAgain(r *http.Request) bool {
	return (r.Method == http.MethodGet || r.Method == http.MethodHead) && r.ContentLength == 0 && len(r.TransferEncoding) == 0 &&
		r.Header["Upgrade"] == nil && r.Header["If-Match"] == nil && r.Header["If-Unmodified-Since"] == nil
}

// void reports whether what is this old was voided since.
func (c *Cache) void(a *Ask, since time.Duration) bool {
	_, ago, ok := c.voided.Get(place(a))
	return ok && ago <= since
}

// Changed notes that a request other than to look has succeeded: what was kept of its
// target is void (RFC 9111 section 4.4).
func (c *Cache) Changed(a *Ask, status int) {
	switch a.Method {
	case http.MethodGet, http.MethodHead, http.MethodOptions, http.MethodTrace:
		return
	}
	if status >= 200 && status < 400 {
		c.voided.Put(place(a), struct{}{})
	}
}
