package trust

import (
	"crypto/sha256"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"
)

// tokenMost bounds a token in bytes. Larger ones do not fit into the headers
// that most servers take.
const tokenMost = 8 << 10

// Algorithms are those with which a token may be signed: asymmetric ones alone,
// so that a public key is never taken for a shared secret, and a signature is
// always asked for.
var Algorithms = []string{"RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA"}

// Tokens says which tokens are believed.
type Tokens struct {
	// JWKS is the file or URL of the keys they are signed with.
	JWKS string
	// Refresh is how often the keys are read again.
	Refresh time.Duration
	// Issuer must be the token's iss, and one of Audience among its aud.
	Issuer   string
	Audience []string
	// Algorithms are some of the package's.
	Algorithms []string
	// Leeway is by how much clocks may differ.
	Leeway time.Duration
	// Header is where the token is: Authorization, after "Bearer", or another
	// header, alone.
	Header string
	// TenantClaim and RoleClaim are the claims that name tenant and roles; "":
	// none does.
	TenantClaim, RoleClaim string
}

// tokens verifies tokens.
type tokens struct {
	Tokens
	allowed []jose.SignatureAlgorithm
	source  *keySource
	roles   *roles
	cache   cache[*verified]
}

// verified is a token whose signature held.
type verified struct {
	Identity
	set     *keySet // that it was verified with
	expires time.Time
}

func newTokens(cfg Tokens, r *roles) *tokens {
	t := &tokens{Tokens: cfg, source: newKeySource(cfg.JWKS, cfg.Refresh), roles: r}
	for _, a := range cfg.Algorithms {
		if slices.Contains(Algorithms, a) {
			t.allowed = append(t.allowed, jose.SignatureAlgorithm(a))
		}
	}
	return t
}

// bearer returns the token of a header's value, "" if it holds none.
func (t *tokens) bearer(value string) string {
	if t.Header != "Authorization" {
		return value
	}
	scheme, token, _ := strings.Cut(value, " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return ""
	}
	return strings.TrimLeft(token, " ")
}

// verify returns whom a token stands for. The keys that were read last decide:
// once a key is no longer among them, neither is what it signed.
func (t *tokens) verify(token string, now time.Time) (*Identity, Failure) {
	set := t.source.set.Load()
	switch {
	case len(token) > tokenMost:
		return nil, Malformed
	case set == nil:
		return nil, Unavailable
	}
	d := sha256.Sum256([]byte(token))
	if v, ok := t.cache.get(d); ok && v.set == set {
		if now.After(v.expires) {
			return nil, Expired
		}
		return &v.Identity, Held
	}
	v, why := t.check(token, set, now)
	if why != Held {
		return nil, why
	}
	t.cache.put(d, v)
	return &v.Identity, Held
}

// check verifies a token. What is cheap to check comes first; nothing that is
// read before the signature has held is kept.
func (t *tokens) check(token string, set *keySet, now time.Time) (*verified, Failure) {
	parsed, err := jwt.ParseSigned(token, t.allowed)
	if _, other := errors.AsType[*jose.ErrUnexpectedSignatureAlgorithm](err); other {
		return nil, Algorithm
	}
	if err != nil || len(parsed.Headers) != 1 {
		return nil, Malformed
	}
	var claims jwt.Claims
	if err := parsed.UnsafeClaimsWithoutVerification(&claims); err != nil {
		return nil, Malformed
	}
	if why := t.judge(&claims, now); why != Held {
		return nil, why
	}
	head := &parsed.Headers[0]
	key := set.find(head.KeyID, head.Algorithm)
	if key == nil {
		t.source.ask()
		return nil, UnknownKey
	}
	var all map[string]any
	if err := parsed.Claims(key.Key, &all); err != nil {
		return nil, Signature
	}
	v := &verified{set: set, expires: claims.Expiry.Time().Add(t.Leeway)}
	v.Identity = Identity{Sources: JWT, By: JWT, Name: claims.Subject}
	v.Tenant, _ = all[t.TenantClaim].(string)
	if len(v.Name) > nameMost || len(v.Tenant) > nameMost {
		return nil, Malformed
	}
	t.roles.assign(&v.Identity, "jwt", words(all[t.RoleClaim]))
	return v, Held
}

// judge holds a token's claims against what is expected. One that never
// expires, or has no subject, is nobody's.
func (t *tokens) judge(c *jwt.Claims, now time.Time) Failure {
	if c.Expiry == nil || c.Subject == "" {
		return Malformed
	}
	err := c.ValidateWithLeeway(jwt.Expected{Issuer: t.Issuer, AnyAudience: t.Audience, Time: now}, t.Leeway)
	switch {
	case err == nil:
		return Held
	case errors.Is(err, jwt.ErrInvalidIssuer):
		return Issuer
	case errors.Is(err, jwt.ErrInvalidAudience):
		return Audience
	case errors.Is(err, jwt.ErrExpired):
		return Expired
	}
	return NotYet
}

// words returns a claim that is a word or a list of them.
func words(claim any) []string {
	switch c := claim.(type) {
	case string:
		return []string{c}
	case []any:
		var all []string
		for _, w := range c {
			if s, ok := w.(string); ok {
				all = append(all, s)
			}
		}
		return all
	}
	return nil
}
