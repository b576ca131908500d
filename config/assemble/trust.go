package assemble

import (
	"net/netip"
	"net/textproto"

	"github.com/spillway-dev/spillway/config"
	"github.com/spillway-dev/spillway/policy/rate"
	"github.com/spillway-dev/spillway/trust"
)

// Trust returns who is believed about what by a configuration that passed
// validation.
func Trust(cfg *config.Config) trust.Config {
	t := cfg.WithDefaults().Trust
	out := trust.Config{
		MTLS:          !t.MTLS.IsZero(),
		KeyFile:       t.Keys.File.Value(),
		KeyHeader:     textproto.CanonicalMIMEHeaderKey(t.Keys.Header),
		Require:       sources(t.Require),
		RefuseInvalid: t.Invalid == config.InvalidRefuse,
		Claims: [trust.Claims]trust.Sources{
			trust.ClaimClass:      sources(t.Class),
			trust.ClaimTenant:     sources(t.Tenant),
			trust.ClaimImportance: sources(t.Importance),
			trust.ClaimDeadline:   sources(t.Deadline),
			trust.ClaimAttempt:    sources(t.Attempt),
		},
		Proxies: trust.Proxies{Forwarded: t.Proxies.Header == config.ProxyForwarded},
	}
	if out.MTLS {
		out.Name, _ = trust.ParseNameOf(string(t.MTLS.Name))
	}
	if !t.JWT.IsZero() {
		out.Tokens = &trust.Tokens{
			JWKS: t.JWT.JWKS.Value(), Refresh: t.JWT.Refresh.D(),
			Issuer: t.JWT.Issuer, Audience: t.JWT.Audience,
			Algorithms: t.JWT.Algorithms, Leeway: t.JWT.Leeway.D(),
			Header:      textproto.CanonicalMIMEHeaderKey(t.JWT.Header),
			TenantClaim: t.JWT.Tenant, RoleClaim: t.JWT.Role,
		}
	}
	for _, from := range t.Proxies.From {
		if from == "unix" {
			out.Proxies.Unix = true
		}
	}
	out.Proxies.From = networks(t.Proxies.From)
	for _, r := range t.Roles {
		out.Roles = append(out.Roles, trust.Role{
			Name: r.Name, Members: r.Members, Tenant: r.Tenant,
			Importance: r.Importance, Classes: r.Classes, Deadline: r.Deadline.D(),
		})
	}
	return out
}

func sources(words config.Words) trust.Sources {
	s, _ := trust.ParseSources(words) // they were checked
	return s
}

// networks returns those of the words that are networks.
func networks(words config.Words) []netip.Prefix {
	var all []netip.Prefix
	for _, w := range words {
		if p, err := netip.ParsePrefix(w); err == nil {
			all = append(all, p)
		}
	}
	return all
}

// Clients says who is one client, where any client is limited.
type Clients struct {
	Limited    bool
	ByIdentity bool
	IPv4, IPv6 int // bits of an address that tell clients apart
	Exempt     []netip.Prefix
}

// ClientsOf returns who is one client of a configuration that passed
// validation.
func ClientsOf(cfg *config.Config) Clients {
	c := cfg.WithDefaults().Clients
	return Clients{
		Limited: cfg.Limited(), ByIdentity: c.By == config.ByIdentity,
		IPv4: c.IPv4, IPv6: c.IPv6, Exempt: networks(c.Exempt),
	}
}

// edge adds what does not depend on a class's own keys alone: client limits,
// and whether retries come last.
func (r *Resource) edge(cfg *config.Config) {
	r.Machine.Clients = rule(cfg.Clients.Rate, cfg.Clients.Concurrent)
	if cfg.Limited() {
		r.Machine.ClientsKept = cfg.Clients.Kept
	}
	last := sources(cfg.Trust.Attempt) != trust.None
	for i := range r.Machine.Classes {
		m, c := &r.Machine.Classes[i], r.Classes[i].Clients
		m.Pool.RetriesLast = last
		if c.Limits() || c.Exempt.On() {
			own := rule(c.Rate, c.Concurrent)
			m.Clients = &own
		}
	}
}

func rule(b config.Bucket, concurrent int) rate.Rule {
	return rate.Rule{Burst: b.Burst, Interval: rate.Interval(b.PerSecond), Concurrent: int32(concurrent)}
}
