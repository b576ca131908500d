package config

import "slices"

// Clients is what one client may ask of an upstream, before any class's room is
// looked at.
type Clients struct {
	By         ClientsBy `yaml:"by" default:"address" doc:"Who is one client: an address, or its network as below (address); or who is verified by trust, wherever it comes from, and an address where nobody is (identity)."`
	Rate       Bucket    `yaml:"rate" doc:"So many requests at once, and so many a second after that; more are refused (rate_limited, 429), and told when."`
	Concurrent int       `yaml:"concurrent" min:"1" max:"1000000" doc:"So many requests under way at once, waiting, running or abandoned."`
	IPv4       int       `yaml:"ipv4_prefix" default:"32" min:"8" max:"32" doc:"How many bits of an IPv4 address tell clients apart."`
	IPv6       int       `yaml:"ipv6_prefix" default:"64" min:"16" max:"128" doc:"The same of IPv6. A subscriber has a /64 or more, and changes its address in it at will."`
	Exempt     Words     `yaml:"exempt" items:"1000" doc:"Networks (CIDR) that are not limited."`
	Kept       int       `yaml:"kept" default:"262144" min:"1024" max:"16777216" doc:"How many clients are told apart at once, 32 bytes each. Beyond that whoever has asked least is forgotten first."`
}

// ClientsBy is who is one client.
type ClientsBy string

// The ways to tell clients apart; ByAddress is the default.
const (
	ByAddress  ClientsBy = "address"
	ByIdentity ClientsBy = "identity"
)

func (ClientsBy) values() []string { return []string{"address", "identity"} }

// ClientRule is what one client may ask of a class, instead of what it may ask of
// the upstream, and counted apart.
type ClientRule struct {
	Rate       Bucket `yaml:"rate" doc:"As in clients.rate."`
	Concurrent int    `yaml:"concurrent" min:"1" max:"1000000" doc:"As in clients.concurrent."`
	Exempt     Switch `yaml:"exempt" default:"off" doc:"on: the class is not limited by client."`
}

// Bucket is an amount at once and a refill.
type Bucket struct {
	Burst     int64   `yaml:"burst" required:"true" min:"1" max:"1000000000000" doc:"The most at once."`
	PerSecond float64 `yaml:"per_second" required:"true" min:"0.000001" max:"1e9" doc:"Refill a second."`
}

// Limits reports whether the rule limits anybody.
func (r ClientRule) Limits() bool { return r.Rate.Burst > 0 || r.Concurrent > 0 }

// Limits reports whether clients are limited where a class says nothing.
func (c Clients) Limits() bool { return c.Rate.Burst > 0 || c.Concurrent > 0 }

// Limited reports whether any client is limited anywhere.
func (c *Config) Limited() bool {
	return c.Clients.Limits() || slices.ContainsFunc(c.Classes, func(k Class) bool { return k.Clients.Limits() })
}

func (c *Clients) fill() {
	if c.By == "" {
		c.By = ByAddress
	}
	if c.IPv4 == 0 {
		c.IPv4 = 32
	}
	if c.IPv6 == 0 {
		c.IPv6 = 64 // RFC 6177: the least that a site is given
	}
	if c.Kept == 0 {
		c.Kept = 1 << 18
	}
}

// clients checks what the limits say.
func (k *checker) clients() {
	c := k.cfg.Clients
	for i, n := range c.Exempt {
		k.network(n, k.item("clients.exempt", i), false)
	}
	t := k.cfg.Trust
	if c.By == ByIdentity && len(t.proofs()) == 0 {
		k.advise("clients.by", "add trust.mtls, trust.jwt or trust.keys", "is identity, but nothing verifies one: addresses count")
	}
	for _, class := range k.cfg.Classes {
		r := class.Clients
		if r.Exempt.On() && r.Limits() {
			k.report(join(join("classes", class.Name), "clients"), "keep one of the two", "is exempt and limited")
		}
	}
	if k.written("clients") && !k.cfg.Limited() {
		k.advise("clients", "add rate or concurrent", "limits nothing")
	}
}
