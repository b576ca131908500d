package gateway_test

import (
	"crypto/ed25519"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"

	"github.com/spillway-dev/spillway/policy/boundary"
	"github.com/spillway-dev/spillway/policy/reason"
	"github.com/spillway-dev/spillway/trust"
)

// toldOf answers what the upstream was told of its caller.
func toldOf(w http.ResponseWriter, r *http.Request) {
	fmt.Fprintf(w, "from %s, tenant %q, importance %q", r.Header.Get("X-Forwarded-For"), r.Header.Get("X-Tenant"), r.Header.Get("X-Importance"))
}

// tenants returns the tenants of a class with the number of requests offered.
func (h *harness) tenants(class string) map[string]int64 {
	known, _ := h.gate().Tenants(h.gate().Class(class))
	all := make(map[string]int64)
	for _, t := range known {
		if t.Tally.Offered > 0 {
			all[t.Name] = t.Tally.Offered
		}
	}
	return all
}

// apiKeys makes a file of keys, each for a tenant and with a role.
func apiKeys(t *testing.T, tenant, role string) (path, key string) {
	t.Helper()
	key, e := trust.NewKey("ci", tenant, role, time.Now(), nil)
	path = filepath.Join(t.TempDir(), "keys.json")
	if err := (&trust.KeyFile{Version: 1, Keys: []trust.Entry{e}}).Save(path); err != nil {
		t.Fatal(err)
	}
	return path, key
}

const claiming = `
  all:
    deadline: 2s
    importance: { key: "header:X-Importance", levels: [critical, user, bulk] }
    tenant: { key: "header:X-Tenant", policy: wrr }
`

// A forged header: importance and tenant of a caller that proved nothing are
// the last and nobody, in the gate and in what the upstream sees, and a caller
// with a key has its own.
func TestForgedClaimsAreLowered(t *testing.T) {
	path, key := apiKeys(t, "acme", "partner")
	var seen []boundary.ItemState
	var h *harness
	h = start(t, "trust: { keys: { file: "+path+" }, roles: { partner: { importance: user } } }"+claiming, func(w http.ResponseWriter, r *http.Request) {
		seen = h.gate().Items(0, 9)
		toldOf(w, r)
	})
	for _, c := range []struct {
		name       string
		header     []string
		importance int
		body       string
	}{
		{"nobody claims nothing", nil, 2, `tenant "", importance ""`},
		{"nobody forges all", []string{"X-Importance", "critical", "X-Tenant", "acme"}, 2, `tenant "", importance "bulk"`},
		{"a wrong key is nobody", []string{"X-Importance", "user", "X-Tenant", "acme", "X-Api-Key", key + "x"}, 2, `tenant "", importance "bulk"`},
		{"a key is worth its role", []string{"X-Importance", "critical", "X-Api-Key", key}, 1, `tenant "", importance "user"`},
		{"and may name what is below", []string{"X-Importance", "bulk", "X-Tenant", "beta", "X-Api-Key", key}, 2, `tenant "beta", importance "bulk"`},
	} {
		got := h.get("/", c.header...)
		want(t, got, 200, "served", "primary")
		if !strings.HasSuffix(got.body, c.body) || len(seen) != 1 || seen[0].Importance != c.importance {
			t.Errorf("%s: the upstream saw %s, the gate %+v; want %s and importance %d", c.name, got.body, seen, c.body, c.importance)
		}
	}
	if got := h.tenants("all"); got[""] != 3 || got["acme"] != 1 || got["beta"] != 1 {
		t.Errorf("tenants %v; a key's own is its tenant, and it may name another", got)
	}
	metrics := h.adminGet("/metrics").body
	for _, line := range []string{
		`spillway_claims_lowered_total{claim="importance"} 3`, `spillway_claims_lowered_total{claim="tenant"} 2`,
		`spillway_callers_total{source="key"} 2`, `spillway_callers_total{source="nobody"} 3`,
		`spillway_proofs_failed_total{failure="unknown_key",source="key"} 1`,
	} {
		if !strings.Contains(metrics, line+"\n") {
			t.Errorf("no %s", line)
		}
	}
}

// Where only who may is believed about tenants, the header of everybody else is
// overwritten with whose it really is.
func TestATenantComesFromTheProofAndNotFromTheHeader(t *testing.T) {
	path, key := apiKeys(t, "acme", "")
	h := start(t, "trust: { keys: { file: "+path+" }, tenant: none }"+claiming, toldOf)
	got := h.get("/", "X-Tenant", "beta", "X-Api-Key", key)
	if !strings.Contains(got.body, `tenant "acme"`) {
		t.Errorf("the upstream saw %s", got.body)
	}
	if got := h.get("/", "X-Api-Key", key); !strings.Contains(got.body, `tenant "acme"`) {
		t.Errorf("of one who names no tenant the upstream saw %s", got.body)
	}
	if n := h.tenants("all"); n["acme"] != 2 || len(n) != 1 {
		t.Errorf("tenants %v", n)
	}
}

// Of a claim that is made twice one is looked at, and the service sees no other.
func TestASecondClaimBesideAnHonestOneIsNotPassedOn(t *testing.T) {
	path, key := apiKeys(t, "acme", "")
	h := start(t, "trust: { keys: { file: "+path+" } }"+claiming, func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, r.Header["X-Tenant"], r.Header["X-Importance"])
	})
	req, err := http.NewRequest("GET", h.url, nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header = http.Header{"X-Api-Key": {key}, "X-Tenant": {"acme", "beta"}, "X-Importance": {"bulk", "critical"}}
	got, err := read(h.client.Do(req))
	if err != nil || got.body != "[acme] [bulk]" {
		t.Errorf("%v, the upstream saw %s", err, got.body)
	}
}

// A forged X-Forwarded-For makes nobody of another address.
func TestForgedForwardedForIsNotBelieved(t *testing.T) {
	const classes = "\n  all: { tenant: { key: client, policy: wrr } }\n"
	for _, c := range []struct{ name, trust, header, client string }{
		{"no proxy is trusted", "", "203.0.113.7", "127.0.0.1"},
		{"another one is", "trust: { proxies: { from: 10.0.0.0/8 } }", "203.0.113.7", "127.0.0.1"},
		{"this one is", "trust: { proxies: { from: [127.0.0.0/8] } }", "6.6.6.6, 203.0.113.7", "203.0.113.7"},
		{"and says nonsense", "trust: { proxies: { from: [127.0.0.0/8] } }", "6.6.6.6, evil", "127.0.0.1"},
	} {
		h := start(t, c.trust+classes, toldOf)
		got := h.get("/", "X-Forwarded-For", c.header)
		if n := h.tenants("all"); n[c.client] != 1 || !strings.HasPrefix(got.body, "from "+c.client+",") {
			t.Errorf("%s: the gate saw %v, the upstream %s; want %s", c.name, n, got.body, c.client)
		}
		h.stop()
	}
}

// Where a trusted proxy ends TLS the service is told so, and nobody else can say
// so.
func TestTheSchemeIsWhatATrustedProxySays(t *testing.T) {
	for _, c := range []struct{ trust, said, told string }{
		{"trust: { proxies: { from: 127.0.0.0/8 } }", "https", "https"},
		{"trust: { proxies: { from: 127.0.0.0/8 } }", "http, https", "http"},
		{"trust: { proxies: { from: 127.0.0.0/8 } }", "", "http"},
		{"trust: { proxies: { from: 10.0.0.0/8 } }", "https", "http"},
		{"", "https", "http"},
	} {
		h := start(t, c.trust+"\n  all: {}\n", func(w http.ResponseWriter, r *http.Request) {
			fmt.Fprint(w, r.Header["X-Forwarded-Proto"])
		})
		for _, upgrade := range []string{"", "trailers"} { // the short way, and the long one
			if got := h.get("/", "X-Forwarded-Proto", c.said, "Te", upgrade); got.body != "["+c.told+"]" {
				t.Errorf("%s, said %q: the service is told %s", c.trust, c.said, got.body)
			}
		}
		h.stop()
	}
}

// A forged deadline holds no slot and no place for longer than its caller may
// ask for.
func TestAForgedDeadlineIsLowered(t *testing.T) {
	var left time.Duration
	var h *harness
	h = start(t, "trust: { deadline: none, roles: { anonymous: { deadline: 1s } } }"+claiming, func(w http.ResponseWriter, r *http.Request) {
		left = h.gate().Items(0, 1)[0].TimeLeft
	})
	for _, named := range []string{"", "60000"} {
		h.get("/", "X-Envoy-Upstream-Rq-Timeout-Ms", named)
		if left <= 0 || left > time.Second {
			t.Errorf("named %q: %v left; its role allows 1 s", named, left)
		}
	}
	if !strings.Contains(h.adminGet("/metrics").body, `spillway_claims_lowered_total{claim="deadline"} 1`) {
		t.Error("not counted")
	}
}

func TestWhoMayNotAskIsRefused(t *testing.T) {
	path, key := apiKeys(t, "acme", "partner")
	h := start(t, "trust: { keys: { file: "+path+" }, require: key, roles: { partner: { classes: [shop] } } }\n  admin: { match: { path: \"/admin/*\" } }\n  shop: { match: { path: \"/shop/*\" } }\n", toldOf)
	got := h.get("/shop/x")
	want(t, got, 401, "unauthorized", "refusal")
	if a := got.Header["Www-Authenticate"]; len(a) != 1 || !strings.Contains(a[0], "X-Api-Key") || got.Header.Get("X-Should-Retry") != "false" {
		t.Errorf("told %v, %v", a, got.Header)
	}
	want(t, h.get("/shop/x", "X-Api-Key", "wrong"), 401, "unauthorized", "refusal")
	want(t, h.get("/shop/x", "X-Api-Key", key), 200, "served", "primary")
	want(t, h.get("/admin/x", "X-Api-Key", key), 403, "unauthorized", "refusal")
	want(t, h.get("/else", "X-Api-Key", key), 404, "bad_request", "refusal")
	if s := h.state("shop").Tally; s.Offered != 3 || s.Answered[reason.Unauthorized] != 2 {
		t.Errorf("on the account of shop: %+v", s)
	}
}

// A class that is chosen by a header is passed over for who may not choose.
func TestAForgedClassIsPassedOver(t *testing.T) {
	path, key := apiKeys(t, "", "")
	h := start(t, "trust: { keys: { file: "+path+" }, class: key }\n  vip: { match: { path: \"/*\", headers: { X-Class: vip } } }\n  all: {}\n", toldOf)
	want(t, h.get("/", "X-Class", "vip"), 200, "served", "primary")
	want(t, h.get("/", "X-Class", "vip", "X-Api-Key", key), 200, "served", "primary")
	if vip, all := h.state("vip").Tally.Offered, h.state("all").Tally.Offered; vip != 1 || all != 1 {
		t.Errorf("vip was offered %d, all %d; want one each", vip, all)
	}
}

// signer makes tokens, and a file of the keys that verify them.
func signer(t *testing.T) (jwks string, sign func(claims map[string]any) string) {
	t.Helper()
	public, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	b, _ := json.Marshal(jose.JSONWebKeySet{Keys: []jose.JSONWebKey{{Key: public, KeyID: "k"}}})
	jwks = filepath.Join(t.TempDir(), "jwks.json")
	if err := os.WriteFile(jwks, b, 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.EdDSA, Key: private}, (&jose.SignerOptions{}).WithHeader("kid", "k"))
	if err != nil {
		t.Fatal(err)
	}
	return jwks, func(claims map[string]any) string {
		token, err := jwt.Signed(s).Claims(claims).Serialize()
		if err != nil {
			t.Fatal(err)
		}
		return "Bearer " + token
	}
}

func TestATokenProvesWhoItIs(t *testing.T) {
	jwks, sign := signer(t)
	h := start(t, "trust: { jwt: { jwks: "+jwks+", issuer: me, audience: shop, tenant: org }, invalid: refuse }\n  all: { tenant: { key: identity, policy: wrr } }\n", toldOf)
	soon := time.Now().Add(time.Hour).Unix()
	want(t, h.get("/", "Authorization", sign(map[string]any{"iss": "me", "aud": "shop", "sub": "ann", "org": "acme", "exp": soon})), 200, "served", "primary")
	want(t, h.get("/", "Authorization", sign(map[string]any{"iss": "me", "aud": "shop", "sub": "bob", "exp": soon})), 200, "served", "primary")
	want(t, h.get("/", "Authorization", sign(map[string]any{"iss": "me", "aud": "bank", "sub": "ann", "exp": soon})), 401, "unauthorized", "refusal")
	want(t, h.get("/", "Authorization", sign(map[string]any{"iss": "me", "aud": "shop", "sub": "ann", "exp": 1})), 401, "unauthorized", "refusal")
	if n := h.tenants("all"); n["acme"] != 1 || n["bob"] != 1 || n[""] != 2 {
		t.Errorf("tenants %v", n)
	}
}

// A key that is revoked stops being one within a second, without a reload.
func TestARevokedKeyStopsToWork(t *testing.T) {
	path, key := apiKeys(t, "", "")
	h := start(t, "trust: { keys: { file: "+path+" }, require: key }\n  all: {}\n", toldOf)
	want(t, h.get("/", "X-Api-Key", key), 200, "served", "primary")
	f, err := trust.LoadKeys(path)
	if err != nil {
		t.Fatal(err)
	}
	f.Revoke(f.Keys[0].ID, time.Now())
	if err := f.Save(path); err != nil {
		t.Fatal(err)
	}
	until(t, "the key is revoked", func() bool { return h.get("/", "X-Api-Key", key).StatusCode == 401 })
}

// A header that says that this is a retry is believed, and is of no use to whoever
// wants to be served first.
func TestRetriesGiveWayToFirstTries(t *testing.T) {
	hold := make(chan struct{})
	h := start(t, "trust: { attempt: any }\n  all: { slots: 1, order: fifo, when_full: displace, memory: { limit: 1MiB, per_request: 128KiB }, importance: { key: \"header:X-I\", levels: [one] } }\n",
		func(http.ResponseWriter, *http.Request) { <-hold })
	answers := make(chan got, 20)
	offer := func(attempt string) {
		before := h.state("all").Tally.Offered
		go func() {
			g, err := h.try("GET", "/", nil, "X-Envoy-Attempt-Count", attempt)
			if err != nil {
				t.Error(err)
			}
			answers <- g
		}()
		until(t, "offered", func() bool { return h.state("all").Tally.Offered == before+1 })
	}
	offer("1")
	bound := h.state("all").Bound
	for range bound / 2 {
		offer("2")
	}
	offer("3") // half of the room is full
	want(t, <-answers, 503, "queue_full", "refusal")
	for range bound - bound/2 {
		offer("0") // less than the first is the first
	}
	offer("1")
	want(t, <-answers, 503, "evicted", "refusal") // a retry made way
	if s := h.state("all"); s.Waiting != bound || s.Tally.Answered[reason.Evicted] != 1 {
		t.Errorf("%d wait of %d, %d evicted", s.Waiting, bound, s.Tally.Answered[reason.Evicted])
	}
	close(hold)
	for range bound + 1 {
		want(t, <-answers, 200, "served", "primary")
	}
}
