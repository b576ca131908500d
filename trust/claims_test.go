package trust

import (
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"net/url"
	"strings"
	"testing"
	"time"
)

var levels = []string{"critical", "user", "prefetch"}

func grant(may Sources, who Sources, role *Role) Grant {
	var rules [Claims]Sources
	for i := range rules {
		rules[i] = may
	}
	return Grant{&rules, who, role}
}

func TestAnImportanceAboveTheCeilingIsLowered(t *testing.T) {
	users := &Role{Importance: "user"}
	for _, c := range []struct {
		name    string
		g       Grant
		claimed int
		granted int
		lowered bool
	}{
		{"everybody may", grant(Any, Nobody, nil), 0, 0, false},
		{"nobody may: it is worth the last", grant(None, MTLS, nil), 0, 2, true},
		{"and who claims the last has lost nothing", grant(None, MTLS, nil), 2, 2, false},
		{"a stranger where the verified may", grant(MTLS|JWT, Nobody, nil), 0, 2, true},
		{"one who is verified", grant(MTLS|JWT, JWT, nil), 0, 0, false},
		{"verified in another way", grant(MTLS|JWT, Key, nil), 1, 2, true},
		{"above the role's highest", grant(JWT, JWT, users), 0, 1, true},
		{"at it", grant(JWT, JWT, users), 1, 1, false},
		{"below it", grant(JWT, JWT, users), 2, 2, false},
		{"a level that the class does not have is its last", grant(JWT, JWT, &Role{Importance: "other"}), 0, 2, true},
		{"out of range", grant(Any, Nobody, nil), 99, 2, false},
		{"out of range the other way", grant(JWT, JWT, users), -5, 1, true},
	} {
		if granted, lowered := c.g.Importance(c.claimed, levels); granted != c.granted || lowered != c.lowered {
			t.Errorf("%s: %d, lowered %v; want %d, %v", c.name, granted, lowered, c.granted, c.lowered)
		}
	}
	if granted, lowered := grant(None, Nobody, users).Importance(0, nil); granted != 0 || lowered {
		t.Errorf("a class without levels: %d, %v", granted, lowered)
	}
}

func TestADeadlineAboveTheCeilingIsLowered(t *testing.T) {
	const usual = 30 * time.Second
	brief := &Role{Deadline: 2 * time.Second}
	for _, c := range []struct {
		name    string
		g       Grant
		named   time.Duration
		granted time.Duration
		lowered bool
	}{
		{"everybody may", grant(Any, Nobody, nil), time.Minute, time.Minute, false},
		{"who may not has what is usual", grant(MTLS, Nobody, nil), time.Minute, usual, true},
		{"or less, which harms nobody", grant(MTLS, Nobody, nil), time.Second, time.Second, false},
		{"a deadline that has passed stays so", grant(MTLS, Nobody, brief), -1, -1, false},
		{"the role's longest", grant(Any, JWT, brief), time.Minute, 2 * time.Second, true},
		{"and it bounds those who name none", grant(Any, JWT, brief), 0, 2 * time.Second, false},
		{"none named", grant(None, Nobody, nil), 0, 0, false},
	} {
		if granted, lowered := c.g.Deadline(c.named, usual); granted != c.granted || lowered != c.lowered {
			t.Errorf("%s: %v, lowered %v; want %v, %v", c.name, granted, lowered, c.granted, c.lowered)
		}
	}
}

func TestATenantIsTheCallersOwnUnlessItMayNameAnother(t *testing.T) {
	ann := &Identity{Sources: JWT, Name: "ann", Tenant: "acme"}
	for _, c := range []struct {
		name    string
		g       Grant
		id      *Identity
		claimed string
		granted string
		lowered bool
	}{
		{"forged", grant(MTLS, JWT, nil), ann, "beta", "acme", true},
		{"told as it is", grant(MTLS, JWT, nil), ann, "acme", "acme", false},
		{"not told", grant(MTLS, JWT, nil), ann, "", "acme", false},
		{"told by who may", grant(JWT, JWT, nil), ann, "beta", "beta", false},
		{"a stranger has none", grant(JWT, Nobody, nil), &Identity{Sources: Nobody}, "beta", "", true},
		{"a name where there is no tenant", grant(None, Key, nil), &Identity{Sources: Key, Name: "ci"}, "x", "ci", true},
	} {
		if granted, lowered := c.g.Tenant(c.claimed, c.id); granted != c.granted || lowered != c.lowered {
			t.Errorf("%s: %q, lowered %v; want %q, %v", c.name, granted, lowered, c.granted, c.lowered)
		}
	}
}

func TestWhichRoleAnIdentityHas(t *testing.T) {
	r := newRoles([]Role{
		{Name: "ops", Members: []string{"mtls:spiffe://shop/ops/*", "key:root"}},
		{Name: "partner", Tenant: "partners"},
		{Name: RoleAnonymous}, {Name: RoleVerified},
	})
	for _, c := range []struct {
		kind, name string
		named      []string
		role       string
	}{
		{"mtls", "spiffe://shop/ops/ann", nil, "ops"},
		{"mtls", "spiffe://shop/ops", nil, RoleVerified},
		{"jwt", "root", nil, RoleVerified}, // a key of that name is another
		{"jwt", "spiffe://shop/ops/ann", []string{"partner"}, "partner"},
		{"key", "root", []string{"partner"}, "ops"}, // members come first
		{"jwt", "ann", []string{"partner", "ops"}, "ops"},
		{"jwt", "ann", []string{"admin"}, RoleVerified},
		{"jwt", "ann", []string{RoleAnonymous}, RoleVerified},
	} {
		id := Identity{Name: c.name}
		if r.assign(&id, c.kind, c.named); id.Role.Name != c.role {
			t.Errorf("%s:%s with %v is %s, want %s", c.kind, c.name, c.named, id.Role.Name, c.role)
		}
		if want := map[bool]string{true: "partners"}[c.role == "partner"]; id.Tenant != want {
			t.Errorf("%s:%s: tenant %q, want %q", c.kind, c.name, id.Tenant, want)
		}
	}
}

func TestTheMostSpecificProofNamesTheCaller(t *testing.T) {
	path, all := keyFile(t, "acme")
	a := authority(t, Config{KeyFile: path, KeyHeader: "X-Api-Key", MTLS: true})
	r := request("X-Api-Key", all[0])
	r.TLS = verifiedState(&x509.Certificate{Subject: pkix.Name{CommonName: "edge"}})
	if id := a.Identify(r, true); id.Name != "acme" || id.Sources != MTLS|Key|Proxy {
		t.Errorf("%+v", id)
	}
	r.Header.Set("X-Api-Key", "wrong")
	if id := a.Identify(r, false); id.Name != "edge" || id.Sources != MTLS || id.Failed != UnknownKey {
		t.Errorf("a key that is wrong takes nothing from a certificate that is right: %+v", id)
	}
}

func verifiedState(leaf *x509.Certificate) *tls.ConnectionState {
	return &tls.ConnectionState{VerifiedChains: [][]*x509.Certificate{{leaf}}, PeerCertificates: []*x509.Certificate{leaf}}
}

func TestWhatACertificateCallsItsHolder(t *testing.T) {
	id, _ := url.Parse("spiffe://shop/web")
	leaf := &x509.Certificate{Subject: pkix.Name{CommonName: "web"}, URIs: []*url.URL{id}, DNSNames: []string{"web.shop"}, EmailAddresses: []string{"a@b"}}
	for _, c := range []struct{ word, want string }{{"cn", "web"}, {"uri", "spiffe://shop/web"}, {"dns", "web.shop"}, {"email", "a@b"}} {
		n, err := ParseNameOf(c.word)
		if got := certificateName(verifiedState(leaf), n); err != nil || got != c.want || n.String() != c.word {
			t.Errorf("%s: %q, %v; want %q", c.word, got, err, c.want)
		}
		if got := certificateName(verifiedState(&x509.Certificate{}), n); got != "" {
			t.Errorf("%s: %q of a certificate without names", c.word, got)
		}
	}
	sent := &tls.ConnectionState{PeerCertificates: []*x509.Certificate{leaf}}
	if certificateName(sent, CommonName) != "" || certificateName(nil, CommonName) != "" {
		t.Error("a certificate that nobody has verified counts")
	}
	if _, err := ParseNameOf("serial"); err == nil {
		t.Error("serial is a name")
	}
}

func TestProofsThatAreRequired(t *testing.T) {
	path, all := keyFile(t, "acme")
	for _, c := range []struct {
		name    string
		require Sources
		strict  bool
		key     string
		refused bool
	}{
		{"nothing is required", None, false, "wrong", false},
		{"a wrong proof is not forgiven", None, true, "wrong", true},
		{"none is", None, true, "", false},
		{"one is required", Key | JWT, false, "", true},
		{"and is wrong", Key, false, "wrong", true},
		{"and is right", Key | JWT, true, all[0], false},
		{"and is of another kind", MTLS, false, all[0], true},
	} {
		a := authority(t, Config{KeyFile: path, KeyHeader: "X-Api-Key", Require: c.require, RefuseInvalid: c.strict})
		id := a.Identify(request("X-Api-Key", c.key), false)
		if got := a.Refuses(&id); got != c.refused {
			t.Errorf("%s: refused %v", c.name, got)
		}
	}
}

func TestAHeaderThatMakesARetryOfARequest(t *testing.T) {
	a := authority(t, Config{Claims: [Claims]Sources{ClaimAttempt: Any}})
	id := Identity{Sources: Nobody}
	if !a.Retry(request("X-Envoy-Attempt-Count", "3").Header, &id) || a.Retry(request().Header, &id) {
		t.Error("a third try is a retry, and what says nothing is none")
	}
	a.Retry(request("X-Envoy-Attempt-Count", "first!").Header, &id)
	if a.Malformed.Load() != 1 {
		t.Error("what makes no sense is counted")
	}
	closed := authority(t, Open())
	if closed.Retry(request("X-Envoy-Attempt-Count", "3").Header, &id) {
		t.Error("it is looked at although nobody is listened to")
	}
}

func TestWordsForSources(t *testing.T) {
	for text, want := range map[string]Sources{"mtls, jwt": MTLS | JWT, "key, proxy": Key | Proxy, "any": Any, "none": None} {
		got, err := ParseSources(strings.Split(text, ", "))
		if err != nil || got != want || got.String() != text {
			t.Errorf("%s: %v, %v", text, got, err)
		}
	}
	for _, wrong := range []string{"any, jwt", "nobody", "oauth", ""} {
		if _, err := ParseSources(strings.Split(wrong, ", ")); err == nil {
			t.Errorf("%q is taken", wrong)
		}
	}
}
