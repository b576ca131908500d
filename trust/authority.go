package trust

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"math/bits"
	"net/http"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/spillway-dev/spillway/policy/call"
)

// Config is who is believed about what. The zero Config knows nobody and lets
// nobody claim anything; Open lets everybody claim everything.
type Config struct {
	// MTLS takes verified client certificates as proof, by the name Name.
	MTLS bool
	Name NameOf
	// Tokens, if set, takes signed tokens as proof.
	Tokens *Tokens
	// KeyFile, if set, is the file of API keys, which callers send in KeyHeader.
	KeyFile, KeyHeader string
	// Proxies are those that are believed about where a request comes from.
	Proxies Proxies
	// Require are the proofs of which a request needs one; None: it needs none.
	Require Sources
	// RefuseInvalid refuses who offers a proof that does not hold, who is else
	// anonymous.
	RefuseInvalid bool
	// Claims says who may make which claim.
	Claims [Claims]Sources
	// Roles bound claims further, in order: the first that fits counts.
	Roles []Role
}

// Open returns the configuration in which nobody is known and everybody may
// claim everything: how a gateway behaves of which nothing else is said.
func Open() Config {
	var c Config
	for i := range c.Claims {
		c.Claims[i] = Any
	}
	c.Claims[ClaimAttempt] = None
	return c
}

// Authority knows callers. Create it with New.
type Authority struct {
	*Counts
	cfg    Config
	roles  *roles
	keys   *keys
	tokens *tokens
	now    func() time.Time
}

// New returns the authority for a configuration. Files must be there and
// readable, so that a wrong path is found out before traffic is; a URL need not
// answer yet.
func New(cfg Config) (*Authority, error) {
	a := &Authority{Counts: new(Counts), cfg: cfg, roles: newRoles(cfg.Roles), now: time.Now}
	if cfg.KeyFile != "" {
		k, err := openKeys(cfg.KeyFile, a.roles)
		if errors.Is(err, os.ErrNotExist) {
			return nil, fmt.Errorf("trust.keys.file: there is no file %s; make it with: spillway keys create --file %[1]s --name NAME", cfg.KeyFile)
		}
		if err != nil {
			return nil, fmt.Errorf("trust.keys.file: %w", err)
		}
		a.keys = k
	}
	if cfg.Tokens != nil {
		a.tokens = newTokens(*cfg.Tokens, a.roles)
		if !a.tokens.source.remote() {
			if err := a.tokens.source.load(context.Background()); err != nil {
				return nil, fmt.Errorf("trust.jwt.jwks: %w", err)
			}
		}
	}
	return a, nil
}

// Inherit takes over from the authority of an earlier configuration what is not
// the configuration's: counts, and the key set if it comes from the same place,
// so that a reload leaves nobody without keys. It is called before the authority
// is used.
func (a *Authority) Inherit(from *Authority) {
	a.Counts = from.Counts
	if a.tokens == nil || from.tokens == nil || a.tokens.source.at != from.tokens.source.at {
		return
	}
	if set := from.tokens.source.set.Load(); set != nil && a.tokens.source.set.Load() == nil {
		a.tokens.source.set.Store(set)
		a.tokens.source.fetched.Store(from.tokens.source.fetched.Load())
	}
}

// Run keeps keys and key sets up to date until ctx ends. What cannot be read
// stays as it was and is logged, once for each change of fortune.
func (a *Authority) Run(ctx context.Context, log *slog.Logger) {
	var wait sync.WaitGroup
	if a.keys != nil {
		wait.Go(func() { a.watchKeys(ctx, log) })
	}
	if a.tokens != nil {
		wait.Go(func() { a.tokens.source.run(ctx, teller(log, "key set")) })
	}
	wait.Wait()
}

func (a *Authority) watchKeys(ctx context.Context, log *slog.Logger) {
	tell := teller(log, "API keys")
	tick := time.NewTicker(keysEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if changed, err := a.keys.refresh(); changed || err != nil {
			tell(err)
		}
	}
}

// teller returns what logs an outcome that differs from the one before.
func teller(log *slog.Logger, what string) func(error) {
	last := ""
	return func(err error) {
		text := ""
		if err != nil {
			text = err.Error()
		}
		switch {
		case text == last:
		case err != nil:
			log.Warn(what+" cannot be read; those read before stay in force", "error", text)
		default:
			log.Info(what + " can be read again")
		}
		last = text
	}
}

// KeySetAge returns for how long the key set has not been read, 0 where there
// is none or none was read yet.
func (a *Authority) KeySetAge() time.Duration {
	if a.tokens == nil || a.tokens.source.fetched.Load() == 0 {
		return 0
	}
	return a.now().Sub(time.Unix(0, a.tokens.source.fetched.Load()))
}

// Origin returns where a request comes from.
func (a *Authority) Origin(r *http.Request) Origin {
	o := a.cfg.Proxies.Origin(r.RemoteAddr, r.Header)
	if o.Malformed {
		a.Malformed.Add(1)
	}
	return o
}

// Identify returns who makes a request. All proofs that it offers are looked
// at; the most specific that holds names it: a key, else a token, else a
// certificate.
func (a *Authority) Identify(r *http.Request, proxied bool) Identity {
	var id Identity
	if a.cfg.MTLS {
		a.certificate(&id, r.TLS)
	}
	key := a.key(r.Header)
	if a.tokens != nil {
		if token := a.tokens.bearer(first(r.Header, a.tokens.Header)); token != "" && token != key {
			who, why := a.tokens.verify(token, a.now())
			a.take(&id, JWT, who, why)
		}
	}
	if key != "" {
		who, why := a.keys.verify(key, a.now())
		a.take(&id, Key, who, why)
	}
	if !id.Verified() {
		id.Sources, id.By = Nobody, Nobody
		if id.Role = a.roles.anonymous; id.Role != nil {
			id.Tenant = id.Role.Tenant
		}
	}
	if proxied {
		id.Sources |= Proxy
	}
	for s := id.Sources; s != 0; s &= s - 1 {
		a.Known[bits.TrailingZeros8(uint8(s))].Add(1)
	}
	return id
}

// key returns the API key that a request offers: in the header that is configured for
// it, after Bearer or alone, else in Authorization after Bearer, where clients of other
// services put theirs, if it looks like one of ours.
func (a *Authority) key(h http.Header) string {
	if a.keys == nil {
		return ""
	}
	if key := first(h, a.cfg.KeyHeader); key != "" {
		return unbearer(key)
	}
	if key := unbearer(first(h, "Authorization")); strings.HasPrefix(key, keyPrefix) {
		return key
	}
	return ""
}

// unbearer returns what follows the scheme Bearer, or all of it where there is none.
func unbearer(value string) string {
	const scheme = "bearer "
	if len(value) > len(scheme) && strings.EqualFold(value[:len(scheme)], scheme) {
		return strings.TrimLeft(value[len(scheme):], " ")
	}
	return value
}

func (a *Authority) certificate(id *Identity, state *tls.ConnectionState) {
	if name := certificateName(state, a.cfg.Name); name != "" && len(name) <= nameMost {
		*id = Identity{Sources: MTLS, By: MTLS, Name: name}
		a.roles.assign(id, "mtls", nil)
	}
}

// take adds a proof to what is known of a caller: the later one names it.
func (a *Authority) take(id *Identity, s Sources, who *Identity, why Failure) {
	if why != Held {
		a.Failed[bits.TrailingZeros8(uint8(s))][why].Add(1)
		id.Failed = why
		return
	}
	known, failed := id.Sources, id.Failed
	*id = *who
	id.Sources |= known
	id.Failed = failed
}

// Refuses reports whether the identity may not ask at all: it lacks a proof
// that is required, or has offered one that does not hold where that is not
// forgiven.
func (a *Authority) Refuses(id *Identity) bool {
	return a.cfg.Require != None && id.Sources&a.cfg.Require == 0 || a.cfg.RefuseInvalid && id.Failed != Held
}

// Retry reports whether a request is to be treated as one that its caller tries
// again.
func (a *Authority) Retry(h http.Header, id *Identity) bool {
	if a.cfg.Claims[ClaimAttempt]&id.Sources == 0 {
		return false
	}
	retry, malformed := call.ReadRetried(func(name string) []string { return h[name] })
	if malformed > 0 {
		a.Malformed.Add(int64(malformed))
	}
	return retry
}

// first returns the first value of a header, "" if it has none. Of several
// tokens or keys in one request nobody can say which is meant by whom; the
// upstream's libraries take the first as well.
func first(h http.Header, name string) string {
	if v := h[name]; len(v) > 0 {
		return v[0]
	}
	return ""
}
