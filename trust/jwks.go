package trust

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"github.com/go-jose/go-jose/v4"
)

// Bounds of a key set.
const (
	keySetMost   = 100              // keys; a provider has two to four
	fetchTimeout = 10 * time.Second // for all of a fetch
	fetchPause   = 5 * time.Second  // after a fetch that failed; doubled up to Refresh
	fetchSoonest = 30 * time.Second // between fetches that an unknown key asks for
	redirects    = 3
)

// keySet is what a JWKS held when it was read. It is not changed after that.
type keySet struct{ keys []jose.JSONWebKey }

// parseKeySet reads the public keys of a JWKS that can verify signatures. What
// it does not know it leaves out, as RFC 7517 section 5 asks; so it does with
// symmetric keys, which would let whoever can read the set sign, and with
// private ones, which have no business there.
func parseKeySet(content []byte) (*keySet, error) {
	var raw struct {
		Keys []json.RawMessage `json:"keys"`
	}
	if err := json.Unmarshal(content, &raw); err != nil {
		return nil, fmt.Errorf("not a key set (JWKS): %w", err)
	}
	if len(raw.Keys) > keySetMost {
		return nil, fmt.Errorf("a key set of %d keys; at most %d", len(raw.Keys), keySetMost)
	}
	set := new(keySet)
	for _, text := range raw.Keys {
		var k jose.JSONWebKey
		if json.Unmarshal(text, &k) != nil || !k.Valid() || !k.IsPublic() || k.Use != "" && k.Use != "sig" {
			continue
		}
		set.keys = append(set.keys, k)
	}
	if len(set.keys) == 0 {
		return nil, fmt.Errorf("the key set has no public key that verifies signatures")
	}
	return set, nil
}

// find returns the key of that name. A token that names none is verified with
// the only key of a set that has one, and with no other.
func (s *keySet) find(id, algorithm string) *jose.JSONWebKey {
	if id == "" && len(s.keys) > 1 {
		return nil
	}
	for i := range s.keys {
		k := &s.keys[i]
		if (id == "" || k.KeyID == id) && (k.Algorithm == "" || k.Algorithm == algorithm) {
			return k
		}
	}
	return nil
}

// keySource is where a key set comes from: a file or a URL of the configuration's,
// never of a token's.
type keySource struct {
	at      string
	every   time.Duration
	client  *http.Client
	set     atomic.Pointer[keySet]
	fetched atomic.Int64  // when the set was read, in Unix nanoseconds
	asked   chan struct{} // a token named a key that is not there
}

func newKeySource(at string, every time.Duration) *keySource {
	return &keySource{at: at, every: every, asked: make(chan struct{}, 1), client: &http.Client{
		Timeout: fetchTimeout,
		CheckRedirect: func(r *http.Request, via []*http.Request) error {
			if len(via) > redirects || r.URL.Scheme != via[0].URL.Scheme {
				return http.ErrUseLastResponse
			}
			return nil
		},
	}}
}

// remote reports whether the set has to be fetched.
func (s *keySource) remote() bool {
	return strings.HasPrefix(s.at, "https://") || strings.HasPrefix(s.at, "http://")
}

// load reads the set. On error the one before stays in force.
func (s *keySource) load(ctx context.Context) error {
	content, err := s.read(ctx)
	if err != nil {
		return err
	}
	set, err := parseKeySet(content)
	if err != nil {
		return fmt.Errorf("%s: %w", s.shown(), err)
	}
	s.set.Store(set)
	s.fetched.Store(time.Now().UnixNano())
	return nil
}

func (s *keySource) read(ctx context.Context) ([]byte, error) {
	if !s.remote() {
		return readFile(s.at)
	}
	ctx, cancel := context.WithTimeout(ctx, fetchTimeout)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, s.at, nil)
	if err != nil {
		return nil, fmt.Errorf("%s: not a URL", s.shown())
	}
	res, err := s.client.Do(r)
	if err != nil {
		return nil, fmt.Errorf("%s cannot be fetched: %w", s.shown(), cause(err))
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s answered %d", s.shown(), res.StatusCode)
	}
	return readAll(res.Body, s.shown())
}

// shown is the source without what a URL may hold of secrets.
func (s *keySource) shown() string {
	if u, err := url.Parse(s.at); err == nil && s.remote() {
		return u.Scheme + "://" + u.Host + u.Path
	}
	return s.at
}

// cause drops the URL from an error: it may hold a password.
func cause(err error) error {
	if u, ok := err.(*url.Error); ok {
		return u.Err
	}
	return err
}

// ask wants the set read again because a token names a key that is not in it:
// a provider may have begun to use a new one. It never waits.
func (s *keySource) ask() {
	select {
	case s.asked <- struct{}{}:
	default:
	}
}

// run reads the set again and again until ctx ends: every so often, sooner
// after a failure, and when a token asks for it, but never sooner than
// fetchSoonest after the last time, whatever tokens say.
func (s *keySource) run(ctx context.Context, tell func(error)) {
	pause := fetchPause
	for {
		started := time.Now()
		wait := s.every
		err := s.load(ctx)
		if ctx.Err() != nil {
			return
		}
		tell(err)
		if err == nil {
			pause = fetchPause
		} else {
			wait, pause = min(pause, s.every), min(2*pause, s.every)
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(wait):
			continue
		case <-s.asked:
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(min(wait, fetchSoonest) - time.Since(started)):
		}
	}
}
