package config

import (
	"net/netip"
	"net/url"
	"slices"
	"strings"
)

// Trust is how callers prove who they are, and who may claim what. Where it is
// not written nobody is known and everybody may claim everything but its attempt,
// which is not looked at.
type Trust struct {
	MTLS       TrustMTLS    `yaml:"mtls" doc:"Client certificates as proof. A listener with tls.client_ca verifies them."`
	JWT        TrustJWT     `yaml:"jwt" doc:"Signed tokens (JWT) as proof."`
	Keys       TrustKeys    `yaml:"keys" doc:"API keys as proof; spillway keys makes and revokes them."`
	Proxies    TrustProxies `yaml:"proxies" doc:"Proxies in front that are believed about where a request comes from. Without it that is the other end of the connection."`
	Require    Words        `yaml:"require" items:"8" doc:"mtls, jwt and key: proofs of which a request needs one; else it is refused (unauthorized, 401). Default: it needs none."`
	Invalid    Invalid      `yaml:"invalid" default:"lower" doc:"What becomes of who offers a proof that does not hold: it is anonymous (lower), or refused (refuse)."`
	Class      Words        `yaml:"class" items:"8" doc:"Who may choose a class by a header, where match looks at headers; for others such a class is passed over. mtls, jwt, key, proxy; or any, none. Default: any."`
	Tenant     Words        `yaml:"tenant" items:"8" doc:"Who may name a tenant; the requests of others are their own, whatever they name. Default: those with a proof that is configured here, else any."`
	Importance Words        `yaml:"importance" items:"8" doc:"Who may name an importance; what others name is worth the last level. Default: those with a proof that is configured here, else any."`
	Deadline   Words        `yaml:"deadline" items:"8" doc:"Who may name a deadline longer than the class's own. Default: any."`
	Attempt    Words        `yaml:"attempt" items:"8" doc:"Whose word is taken that a request is a retry, which comes after first tries and is shed before them. It can only lower. Default: any; where nothing is written of trust, none."`
	Roles      []Role       `yaml:"roles" items:"100" doc:"Bounds of what may be claimed, by name. anonymous is the role of callers without proof, verified that of all with one who have no other."`
}

// TrustMTLS takes client certificates as proof.
type TrustMTLS struct {
	Name CertName `yaml:"name" required:"true" doc:"Which name of the certificate is the caller's: the subject's common name, or the first alternative name that is a URI (SPIFFE), a DNS name or a mail address."`
}

// CertName is a name of a certificate.
type CertName string

func (CertName) values() []string { return []string{"cn", "uri", "dns", "email"} }

// TrustJWT takes signed tokens as proof.
type TrustJWT struct {
	JWKS       Text     `yaml:"jwks" required:"true" doc:"Path or https:// URL of the keys that sign them (a JWK set). They are read in the background; a set that cannot be read any more stays in force."`
	Issuer     string   `yaml:"issuer" required:"true" doc:"What iss must be."`
	Audience   Words    `yaml:"audience" required:"true" items:"20" doc:"One of which must be among aud."`
	Algorithms Words    `yaml:"algorithms" items:"10" doc:"How they may be signed: RS256, RS384, RS512, PS256, PS384, PS512, ES256, ES384, ES512, EdDSA. Default: RS256, ES256, EdDSA."`
	Header     string   `yaml:"header" default:"Authorization" doc:"Header that holds the token: Authorization, after Bearer, or another, alone."`
	Tenant     string   `yaml:"tenant" doc:"Claim that names the tenant. Default: none does."`
	Role       string   `yaml:"role" doc:"Claim that names roles, a word or a list. Default: none does."`
	Refresh    Duration `yaml:"refresh" default:"5m" min:"10s" max:"24h" doc:"How often the keys are read again."`
	Leeway     Duration `yaml:"leeway" default:"30s" max:"10m" doc:"By how much clocks may differ."`
}

// TrustKeys takes API keys as proof.
type TrustKeys struct {
	File   Text   `yaml:"file" required:"true" doc:"File of the keys' hashes, made by spillway keys. It is read again within a second of a change."`
	Header string `yaml:"header" default:"X-Api-Key" doc:"Header in which callers send their key."`
}

// TrustProxies are proxies in front.
type TrustProxies struct {
	From   Words       `yaml:"from" required:"true" items:"1000" doc:"Their networks (CIDR); unix for whoever connects to a unix socket."`
	Header ProxyHeader `yaml:"header" default:"x-forwarded-for" doc:"Where they write the address of whom they speak for. Choose the one that all of them write: what they do not write is passed on from the caller."`
}

// ProxyHeader is where proxies write whom they speak for.
type ProxyHeader string

// The headers; ProxyXForwardedFor is the default.
const (
	ProxyXForwardedFor ProxyHeader = "x-forwarded-for"
	ProxyForwarded     ProxyHeader = "forwarded"
)

func (ProxyHeader) values() []string { return []string{"x-forwarded-for", "forwarded"} }

// Invalid is what becomes of who offers a proof that does not hold.
type Invalid string

// The ways to treat it; InvalidLower is the default.
const (
	InvalidLower  Invalid = "lower"
	InvalidRefuse Invalid = "refuse"
)

func (Invalid) values() []string { return []string{"lower", "refuse"} }

// Role bounds what those who have it may claim.
type Role struct {
	Name       string   `yaml:"-"`
	Members    Words    `yaml:"members" items:"10000" doc:"Who has it whatever their proof says: mtls:NAME, jwt:SUBJECT or key:NAME, with a final * for any rest."`
	Tenant     string   `yaml:"tenant" doc:"Whose the requests of its members are, where their proof names no tenant."`
	Importance string   `yaml:"importance" doc:"The highest importance that may be claimed; in a class without that level, only the last."`
	Classes    Words    `yaml:"classes" items:"1000" doc:"Classes that may be used; others are passed over, and where that leaves none the request is refused (403). Default: all."`
	Deadline   Duration `yaml:"deadline" min:"1ms" max:"24h" doc:"The longest that may be named."`
}

// The roles that need no members.
const (
	roleAnonymous = "anonymous"
	roleVerified  = "verified"
)

var tokenAlgorithms = []string{"RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA"}

// written reports whether anything is said of trust.
func (t *Trust) written() bool {
	return !t.MTLS.IsZero() || !t.JWT.IsZero() || !t.Keys.IsZero() || len(t.Proxies.From) > 0 || len(t.Roles) > 0 || t.Invalid != "" ||
		len(t.Require)+len(t.Class)+len(t.Tenant)+len(t.Importance)+len(t.Deadline)+len(t.Attempt) > 0
}

// IsZero reports whether certificates are no proof.
func (t TrustMTLS) IsZero() bool { return t == TrustMTLS{} }

// IsZero reports whether tokens are no proof.
func (t TrustJWT) IsZero() bool { return t.JWKS.IsZero() }

// IsZero reports whether keys are no proof.
func (t TrustKeys) IsZero() bool { return t.File.IsZero() }

// proofs are the words for those that are configured.
func (t *Trust) proofs() Words {
	var all Words
	for _, p := range []struct {
		word    string
		missing bool
	}{{"mtls", t.MTLS.IsZero()}, {"jwt", t.JWT.IsZero()}, {"key", t.Keys.IsZero()}} {
		if !p.missing {
			all = append(all, p.word)
		}
	}
	return all
}

func (t *Trust) fill() {
	if !t.written() {
		t.Invalid = InvalidLower
		t.Class, t.Tenant, t.Importance, t.Deadline, t.Attempt = Words{"any"}, Words{"any"}, Words{"any"}, Words{"any"}, Words{"none"}
		return
	}
	believed := t.proofs()
	if len(believed) == 0 {
		believed = Words{"any"} // nobody could prove anything
	}
	def := func(w *Words, to Words) {
		if len(*w) == 0 {
			*w = slices.Clone(to)
		}
	}
	def(&t.Class, Words{"any"})
	def(&t.Tenant, believed)
	def(&t.Importance, believed)
	def(&t.Deadline, Words{"any"})
	def(&t.Attempt, Words{"any"})
	if t.Invalid == "" {
		t.Invalid = InvalidLower
	}
	if !t.JWT.IsZero() {
		def(&t.JWT.Algorithms, Words{"RS256", "ES256", "EdDSA"}) // what providers use
		if t.JWT.Header == "" {
			t.JWT.Header = "Authorization"
		}
		if t.JWT.Refresh == 0 {
			t.JWT.Refresh = Duration(300e9) // keys change monthly, and are announced before; a withdrawn one is to go soon
		}
		if t.JWT.Leeway == 0 {
			t.JWT.Leeway = Duration(30e9) // clocks that are kept are closer
		}
	}
	if !t.Keys.IsZero() && t.Keys.Header == "" {
		t.Keys.Header = "X-Api-Key"
	}
	if len(t.Proxies.From) > 0 && t.Proxies.Header == "" {
		t.Proxies.Header = ProxyXForwardedFor
	}
}

// trust checks what the section says.
func (k *checker) trust(classes []Class) {
	t := k.cfg.Trust
	for _, c := range []struct {
		key   string
		words Words
	}{{"class", t.Class}, {"tenant", t.Tenant}, {"importance", t.Importance}, {"deadline", t.Deadline}, {"attempt", t.Attempt}} {
		k.sources(c.words, join("trust", c.key), []string{"mtls", "jwt", "key", "proxy", "any", "none"}, t)
	}
	k.sources(t.Require, "trust.require", []string{"mtls", "jwt", "key"}, t)
	if !t.MTLS.IsZero() && !k.asksForCertificates() {
		k.report("trust.mtls", "add tls.client_ca", "means nothing: no listener verifies client certificates")
	}
	k.jwt(t.JWT)
	if h := t.Keys.Header; h != "" && !isToken(h) {
		k.report("trust.keys.header", "write a header's name, as in X-Api-Key", "is %s", quote(h))
	}
	for i, from := range t.Proxies.From {
		k.network(from, k.item("trust.proxies.from", i), true)
	}
	for _, r := range t.Roles {
		k.role(r, join("trust.roles", r.Name), classes)
	}
}

// sources checks a list of who may do something.
func (k *checker) sources(words Words, at string, known []string, t Trust) {
	k.distinct(words, at)
	for i, w := range words {
		here := k.item(at, i)
		switch {
		case !slices.Contains(known, w):
			k.report(here, oneOf(w, known), "is %s", quote(w))
		case (w == "any" || w == "none") && len(words) > 1:
			k.report(here, "write it alone", "is %s beside others", w)
		case w == "proxy" && len(t.Proxies.From) == 0:
			k.advise(here, "add trust.proxies", "is proxy, but no proxy is trusted")
		case slices.Contains([]string{"mtls", "jwt", "key"}, w) && !slices.Contains(t.proofs(), w):
			section := map[string]string{"key": "keys"}[w]
			if section == "" {
				section = w
			}
			k.advise(here, "add trust."+section, "is %s, but nothing verifies one: it holds for nobody", w)
		}
	}
}

func (k *checker) asksForCertificates() bool {
	if !k.cfg.TLS.ClientCA.IsZero() {
		return true
	}
	return slices.ContainsFunc(k.cfg.Listen, func(l Listener) bool { return !l.TLS.ClientCA.IsZero() })
}

func (k *checker) jwt(j TrustJWT) {
	if j.IsZero() {
		return
	}
	if u, err := url.Parse(j.JWKS.Value()); strings.Contains(j.JWKS.Value(), "://") {
		switch {
		case err != nil || u.Host == "":
			k.report("trust.jwt.jwks", `write it as in "https://id.example/jwks.json"`, "is not a URL")
		case u.Scheme != "https" && !(u.Scheme == "http" && loopback(u.Hostname())):
			k.report("trust.jwt.jwks", "use https://: whoever can change the keys on the way can sign as anybody", "is not https")
		}
	}
	for i, a := range j.Algorithms {
		here := k.item("trust.jwt.algorithms", i)
		switch {
		case strings.EqualFold(a, "none"):
			k.report(here, "remove it", "is none, with which anybody is everybody")
		case strings.HasPrefix(strings.ToUpper(a), "HS"):
			k.report(here, "sign with RS256, ES256 or EdDSA", "is %s: with a shared secret whoever can verify can sign", quote(a))
		case !slices.Contains(tokenAlgorithms, a):
			k.report(here, oneOf(a, tokenAlgorithms), "is %s", quote(a))
		}
	}
	k.distinct(j.Audience, "trust.jwt.audience")
	if j.Header != "" && !isToken(j.Header) {
		k.report("trust.jwt.header", "write a header's name, as in Authorization", "is %s", quote(j.Header))
	}
}

func loopback(host string) bool {
	a, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && a.IsLoopback()
}

// network checks a CIDR, or unix where that may stand for one.
func (k *checker) network(text, at string, unix bool) {
	if unix && text == "unix" {
		return
	}
	p, err := netip.ParsePrefix(text)
	switch {
	case err != nil:
		k.report(at, "write a network, as in 10.0.0.0/8 or 2001:db8::7/128", "is %s", quote(text))
	case p.Masked() != p:
		k.report(at, "write "+p.Masked().String(), "is %s, which has bits beyond its length", quote(text))
	case unix && p.Bits() == 0:
		k.advise(at, "name the networks of your own proxies", "trusts the whole Internet: whoever writes the header chooses its address")
	}
}

func (k *checker) role(r Role, at string, classes []Class) {
	if (r.Name == roleAnonymous || r.Name == roleVerified) && len(r.Members) > 0 {
		k.report(join(at, "members"), "remove it", "means nothing: %s is a role that is there by itself", r.Name)
	}
	for i, m := range r.Members {
		kind, name, _ := strings.Cut(m, ":")
		here := k.item(join(at, "members"), i)
		switch {
		case kind != "mtls" && kind != "jwt" && kind != "key" || name == "":
			k.report(here, "write mtls:NAME, jwt:SUBJECT or key:NAME", "is %s", quote(m))
		case strings.Contains(strings.TrimSuffix(name, "*"), "*"):
			k.report(here, "keep one * at the end", "is %s", quote(m))
		}
	}
	names := make([]string, len(classes))
	var levels []string
	for i, c := range classes {
		names[i] = c.Name
		levels = append(levels, c.Importance.Levels...)
	}
	for i, c := range r.Classes {
		if !slices.Contains(names, c) {
			k.report(k.item(join(at, "classes"), i), oneOf(c, names), "is %s, which is no class", quote(c))
		}
	}
	if r.Importance != "" && !slices.Contains(levels, r.Importance) {
		k.report(join(at, "importance"), oneOf(r.Importance, levels), "is %s, which is a level of no class", quote(r.Importance))
	}
}
