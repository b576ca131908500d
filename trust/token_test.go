package trust

import (
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"
)

// issuer signs the test's tokens.
type issuer struct {
	rsa *rsa.PrivateKey
	ec  *ecdsa.PrivateKey
	ed  ed25519.PrivateKey
}

var theIssuer = func() *issuer {
	r, _ := rsa.GenerateKey(rand.Reader, 2048)
	e, _ := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	_, d, _ := ed25519.GenerateKey(rand.Reader)
	return &issuer{r, e, d}
}()

// set is its key set.
func (i *issuer) set() []byte {
	b, _ := json.Marshal(jose.JSONWebKeySet{Keys: []jose.JSONWebKey{
		{Key: i.rsa.Public(), KeyID: "r", Algorithm: "RS256", Use: "sig"},
		{Key: i.ec.Public(), KeyID: "e", Use: "sig"},
		{Key: i.ed.Public(), KeyID: "d"},
		{Key: i.ec.Public(), KeyID: "for encryption", Use: "enc"},
	}})
	return b
}

func (i *issuer) sign(t testing.TB, alg jose.SignatureAlgorithm, id string, key any, claims map[string]any) string {
	t.Helper()
	opts := (&jose.SignerOptions{}).WithType("JWT").WithHeader("kid", id)
	s, err := jose.NewSigner(jose.SigningKey{Algorithm: alg, Key: key}, opts)
	if err != nil {
		t.Fatal(err)
	}
	token, err := jwt.Signed(s).Claims(claims).Serialize()
	if err != nil {
		t.Fatal(err)
	}
	return token
}

// claims are those of a good token, changed.
func claims(change ...any) map[string]any {
	c := map[string]any{"iss": "https://id.example", "aud": "shop", "sub": "ann", "exp": noon.Add(time.Hour).Unix(), "org": "acme", "roles": []any{"x", "partner"}}
	for i := 0; i+1 < len(change); i += 2 {
		if c[change[i].(string)] = change[i+1]; change[i+1] == nil {
			delete(c, change[i].(string))
		}
	}
	return c
}

func tokensConfig(t testing.TB) *Tokens {
	path := filepath.Join(t.TempDir(), "jwks.json")
	if err := os.WriteFile(path, theIssuer.set(), 0o600); err != nil {
		t.Fatal(err)
	}
	return &Tokens{JWKS: path, Refresh: time.Hour, Issuer: "https://id.example", Audience: []string{"shop"},
		Algorithms: []string{"RS256", "ES256", "EdDSA"}, Leeway: 30 * time.Second, Header: "Authorization", TenantClaim: "org", RoleClaim: "roles"}
}

func TestAVerifiedTokenSaysWhoItIs(t *testing.T) {
	a := authority(t, Config{Tokens: tokensConfig(t), Roles: []Role{{Name: "partner"}}})
	i := theIssuer
	for _, token := range []string{
		i.sign(t, jose.RS256, "r", i.rsa, claims()),
		i.sign(t, jose.ES256, "e", i.ec, claims()),
		i.sign(t, jose.EdDSA, "d", i.ed, claims()),
	} {
		for range 2 { // the second time from memory
			id := a.Identify(request("Authorization", "bearer "+token), false)
			if id.Sources != JWT || id.Name != "ann" || id.Tenant != "acme" || id.Role == nil || id.Role.Name != "partner" || id.Failed != Held {
				t.Errorf("%+v", id)
			}
		}
	}
}

func TestATokenThatDoesNotHold(t *testing.T) {
	a := authority(t, Config{Tokens: tokensConfig(t)})
	i := theIssuer
	good := i.sign(t, jose.RS256, "r", i.rsa, claims())
	parts := strings.Split(good, ".")
	b64 := base64.RawURLEncoding.EncodeToString
	public, _ := x509.MarshalPKIXPublicKey(i.rsa.Public())
	publicPEM := pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: public})
	other, _ := rsa.GenerateKey(rand.Reader, 2048)
	rs := func(change ...any) string { return i.sign(t, jose.RS256, "r", i.rsa, claims(change...)) }
	for _, c := range []struct {
		name, token string
		why         Failure
	}{
		{"algorithm none", b64([]byte(`{"alg":"none","kid":"r"}`)) + "." + parts[1] + ".", Algorithm},
		{"algorithm None, as one written differently", b64([]byte(`{"alg":"nOnE"}`)) + "." + parts[1] + ".", Algorithm},
		{"the public key taken for a shared secret", i.sign(t, jose.HS256, "r", publicPEM, claims()), Algorithm},
		{"the same, with the key's bytes", i.sign(t, jose.HS256, "r", public, claims()), Algorithm},
		{"an algorithm that is not on the list", i.sign(t, jose.RS512, "r", i.rsa, claims()), Algorithm},
		{"another kind of key under the name of one that is known", i.sign(t, jose.ES256, "r", i.ec, claims()), UnknownKey},
		{"a key of the token's own", i.sign(t, jose.RS256, "mine", other, claims()), UnknownKey},
		{"a key that is for encryption", i.sign(t, jose.ES256, "for encryption", i.ec, claims()), UnknownKey},
		{"no key named where there are several", i.sign(t, jose.RS256, "", i.rsa, claims()), UnknownKey},
		{"somebody else's signature", i.sign(t, jose.RS256, "r", other, claims()), Signature},
		{"another's claims under a good signature", parts[0] + "." + b64([]byte(`{"iss":"https://id.example","aud":"shop","sub":"eve","exp":9999999999}`)) + "." + parts[2], Signature},
		{"expired", rs("exp", noon.Add(-31*time.Second).Unix()), Expired},
		{"never expires", rs("exp", nil), Malformed},
		{"expires in a way that overflows", rs("exp", 1e30), Malformed},
		{"not valid yet", rs("nbf", noon.Add(time.Minute).Unix()), NotYet},
		{"issued in the future", rs("iat", noon.Add(time.Hour).Unix()), NotYet},
		{"for another audience", rs("aud", []any{"bank", "post"}), Audience},
		{"for no audience", rs("aud", nil), Audience},
		{"from another issuer", rs("iss", "https://id.example.evil"), Issuer},
		{"of nobody", rs("sub", nil), Malformed},
		{"with a subject that is a book", rs("sub", strings.Repeat("x", 1000)), Malformed},
		{"not a token", "abc", Malformed},
		{"too many parts", good + ".x", Malformed},
		{"too long", good + strings.Repeat("x", tokenMost), Malformed},
	} {
		id := a.Identify(request("Authorization", "Bearer "+c.token), false)
		if id.Verified() || id.Failed != c.why || id.Sources != Nobody || id.Name != "" {
			t.Errorf("%s: %+v (%v), want nobody, %v", c.name, id, id.Failed, c.why)
		}
		if n := a.Failed[1][c.why].Load(); n == 0 {
			t.Errorf("%s: not counted as %v", c.name, c.why)
		}
	}
	if id := a.Identify(request("Authorization", "Basic "+good), false); id.Failed != Held {
		t.Errorf("another scheme is no token that failed: %+v", id)
	}
}

func TestClocksMayDifferByTheLeeway(t *testing.T) {
	a := authority(t, Config{Tokens: tokensConfig(t)})
	token := theIssuer.sign(t, jose.RS256, "r", theIssuer.rsa, claims("exp", noon.Add(-29*time.Second).Unix(), "nbf", noon.Add(-time.Hour).Unix()))
	if id := a.Identify(request("Authorization", "Bearer "+token), false); !id.Verified() {
		t.Errorf("29 s late of 30: %+v", id)
	}
	a.now = func() time.Time { return noon.Add(2 * time.Second) }
	if id := a.Identify(request("Authorization", "Bearer "+token), false); id.Failed != Expired {
		t.Errorf("what was remembered outlives the token: %+v", id)
	}
}

// The address and the key in a token's header are the token's, and nobody asks.
func TestNoKeyIsTakenFromAToken(t *testing.T) {
	a := authority(t, Config{Tokens: tokensConfig(t)})
	mine, _ := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	for _, header := range []string{"jku", "x5u"} {
		opts := (&jose.SignerOptions{EmbedJWK: true}).WithHeader(jose.HeaderKey(header), "http://127.0.0.1:1/jwks")
		s, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.ES256, Key: mine}, opts)
		if err != nil {
			t.Fatal(err)
		}
		token, _ := jwt.Signed(s).Claims(claims()).Serialize()
		if id := a.Identify(request("Authorization", "Bearer "+token), false); id.Failed != UnknownKey {
			t.Errorf("%s: %+v", header, id)
		}
	}
}

func TestAKeySetTakesWhatItKnowsAndNoSecrets(t *testing.T) {
	symmetric := `{"kty":"oct","kid":"s","k":"c2VjcmV0c2VjcmV0c2VjcmV0c2VjcmV0"}`
	for _, c := range []struct{ content, want string }{
		{`{"keys":[` + symmetric + `]}`, "no public key"},
		{`{"keys":[{"kty":"XX","kid":"new"}]}`, "no public key"},
		{`{"keys":[]}`, "no public key"},
		{`<html>`, "not a key set"},
		{`{"keys":[` + strings.Repeat(`{},`, 200) + `{}]}`, "at most 100"},
	} {
		if _, err := parseKeySet([]byte(c.content)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%.60s: %v, want %q", c.content, err, c.want)
		}
	}
	private, _ := json.Marshal(jose.JSONWebKey{Key: theIssuer.ec, KeyID: "private"})
	mixed := `{"keys":[` + symmetric + `,{"kty":"XX"},` + string(private) + `,` + string(theIssuer.set()[len(`{"keys":[`):])
	set, err := parseKeySet([]byte(mixed))
	if err != nil || len(set.keys) != 3 {
		t.Errorf("%v, %v; want the three public ones for signatures", set, err)
	}
}

func TestWhatAKeySignedIsWorthNothingOnceItIsGone(t *testing.T) {
	cfg := tokensConfig(t)
	a := authority(t, Config{Tokens: cfg})
	token := theIssuer.sign(t, jose.RS256, "r", theIssuer.rsa, claims())
	if id := a.Identify(request("Authorization", "Bearer "+token), false); !id.Verified() {
		t.Fatalf("%+v", id)
	}
	b, _ := json.Marshal(jose.JSONWebKeySet{Keys: []jose.JSONWebKey{{Key: theIssuer.ec.Public(), KeyID: "e"}}})
	if err := os.WriteFile(cfg.JWKS, b, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := a.tokens.source.load(context.Background()); err != nil {
		t.Fatal(err)
	}
	if id := a.Identify(request("Authorization", "Bearer "+token), false); id.Failed != UnknownKey {
		t.Errorf("its signature is remembered although the key is gone: %+v", id)
	}
}

func TestWhatIsRememberedIsBounded(t *testing.T) {
	var c cache[int]
	for i := range 10 * cacheMost {
		c.put(digest{byte(i), byte(i >> 8), byte(i >> 16)}, i)
		if _, ok := c.get(digest{}); !ok && i < cacheMost {
			t.Fatal("forgotten although there was room")
		}
	}
	if n := len(c.young) + len(c.older); n > 2*cacheMost {
		t.Errorf("%d are remembered", n)
	}
	if v, ok := c.get(digest{}); !ok || v != 0 {
		t.Error("what is asked for all the time was forgotten")
	}
}

func FuzzTokens(f *testing.F) {
	a := authority(f, Config{Tokens: tokensConfig(f)})
	f.Add(theIssuer.sign(f, jose.RS256, "r", theIssuer.rsa, claims()))
	f.Add("a.b.c")
	f.Add(`eyJhbGciOiJub25lIn0.e30.`)
	good := theIssuer.sign(f, jose.ES256, "e", theIssuer.ec, claims())
	f.Add(good)
	f.Fuzz(func(t *testing.T, token string) {
		if id := a.Identify(request("Authorization", "Bearer "+token), false); id.Verified() && id.Name != "ann" {
			t.Fatalf("%q is %q", token, id.Name)
		}
	})
}

// BenchmarkIdentify is what a request costs whose proof was seen before, beside
// what verifying it costs.
func BenchmarkIdentify(b *testing.B) {
	cfg := Config{Tokens: tokensConfig(b), KeyHeader: "X-Api-Key"}
	path := filepath.Join(b.TempDir(), "keys.json")
	key, e := NewKey("acme", "", "", noon, nil)
	if err := (&KeyFile{Version: 1, Keys: []Entry{e}}).Save(path); err != nil {
		b.Fatal(err)
	}
	cfg.KeyFile = path
	a := authority(b, cfg)
	keys := map[jose.SignatureAlgorithm]crypto.Signer{jose.RS256: theIssuer.rsa, jose.ES256: theIssuer.ec, jose.EdDSA: theIssuer.ed}
	for alg, id := range map[jose.SignatureAlgorithm]string{jose.RS256: "r", jose.ES256: "e", jose.EdDSA: "d"} {
		token := theIssuer.sign(b, alg, id, keys[alg], claims())
		r := request("Authorization", "Bearer "+token)
		b.Run(fmt.Sprintf("token=%s/seen", alg), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				a.Identify(r, false)
			}
		})
		b.Run(fmt.Sprintf("token=%s/new", alg), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				a.tokens.check(token, a.tokens.source.set.Load(), noon)
			}
		})
	}
	r := request("X-Api-Key", key)
	b.Run("key", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			a.Identify(r, false)
		}
	})
	r = request()
	b.Run("nobody", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			a.Identify(r, false)
		}
	})
}
