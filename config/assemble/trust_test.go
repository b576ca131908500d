package assemble_test

import (
	"net/netip"
	"reflect"
	"testing"
	"time"

	"github.com/spillway-dev/spillway/config/assemble"
	"github.com/spillway-dev/spillway/policy/rate"
	"github.com/spillway-dev/spillway/trust"
)

const trusting = `version: 1
tls: { cert: c.pem, key: k.pem, client_ca: ca.pem }
upstreams: { app: { url: "http://127.0.0.1:9001" } }
classes:
  login: { match: { path: /login }, clients: { rate: { burst: 3, per_second: 0.1 } } }
  assets: { match: { path: "/assets/*" }, clients: { exempt: on } }
  all: { importance: { key: "header:X-I", levels: [user, bulk] } }
clients: { by: identity, rate: { burst: 20, per_second: 10 }, concurrent: 50, ipv6_prefix: 56, exempt: [10.0.0.0/8], kept: 5000 }
trust:
  mtls: { name: uri }
  jwt: { jwks: jwks.json, issuer: me, audience: [shop, bank], tenant: org, role: roles, header: x-token }
  keys: { file: keys.json, header: x-key }
  proxies: { from: [10.0.0.0/8, unix], header: forwarded }
  require: [jwt, key]
  invalid: refuse
  deadline: none
  roles:
    anonymous: { classes: [all], importance: bulk, deadline: 2s }
    ops: { members: ["mtls:ann"], tenant: house }
`

func TestEveryKeyOfTrustReachesTheAuthority(t *testing.T) {
	want := trust.Config{
		MTLS: true, Name: trust.URI,
		Tokens: &trust.Tokens{JWKS: "jwks.json", Refresh: 5 * time.Minute, Issuer: "me", Audience: []string{"shop", "bank"},
			Algorithms: []string{"RS256", "ES256", "EdDSA"}, Leeway: 30 * time.Second, Header: "X-Token", TenantClaim: "org", RoleClaim: "roles"},
		KeyFile: "keys.json", KeyHeader: "X-Key",
		Proxies: trust.Proxies{From: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}, Unix: true, Forwarded: true},
		Require: trust.JWT | trust.Key, RefuseInvalid: true,
		Claims: [trust.Claims]trust.Sources{trust.Any, trust.Proven, trust.Proven, trust.None, trust.Any},
		Roles: []trust.Role{
			{Name: "anonymous", Classes: []string{"all"}, Importance: "bulk", Deadline: 2 * time.Second},
			{Name: "ops", Members: []string{"mtls:ann"}, Tenant: "house"},
		},
	}
	got := assemble.Trust(parse(t, trusting))
	got.Tokens.Audience = append([]string(nil), got.Tokens.Audience...)
	if !reflect.DeepEqual(got, want) {
		t.Errorf("\n got %+v %+v\nwant %+v %+v", got, got.Tokens, want, want.Tokens)
	}
}

func TestWhereNothingIsSaidOfTrustEverybodyMayClaimEverything(t *testing.T) {
	got := assemble.Trust(parse(t, "version: 1\nupstreams: {a: {url: 'http://h'}}\nclasses: {c: {}}\n"))
	if !reflect.DeepEqual(got, trust.Open()) {
		t.Errorf("\n got %+v\nwant %+v", got, trust.Open())
	}
}

func TestClientLimitsReachTheMachine(t *testing.T) {
	cfg := parse(t, trusting)
	m := assemble.Resources(cfg)[0].Machine
	if want := (rate.Rule{Burst: 20, Interval: 100 * time.Millisecond, Concurrent: 50}); m.Clients != want || m.ClientsKept != 5000 {
		t.Errorf("%+v, %d kept; want %+v, 5000", m.Clients, m.ClientsKept, want)
	}
	if own := m.Classes[0].Clients; own == nil || *own != (rate.Rule{Burst: 3, Interval: 10 * time.Second}) {
		t.Errorf("login: %+v", own)
	}
	if own := m.Classes[1].Clients; own == nil || !own.IsZero() {
		t.Errorf("assets are exempt: %+v", own)
	}
	if m.Classes[2].Clients != nil || !m.Classes[2].Pool.RetriesLast {
		t.Errorf("all: %+v", m.Classes[2])
	}
	want := assemble.Clients{Limited: true, ByIdentity: true, IPv4: 32, IPv6: 56, Exempt: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}}
	if got := assemble.ClientsOf(cfg); !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
	plain := assemble.Resources(parse(t, file))[0].Machine
	if !plain.Clients.IsZero() || plain.ClientsKept != 0 || plain.Classes[0].Pool.RetriesLast {
		t.Errorf("nothing is said of clients or attempts, and something is done: %+v", plain)
	}
}
