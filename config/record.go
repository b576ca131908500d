package config

import (
	"cmp"
	"slices"
)

// Record is where a trace of the traffic is written, for replay. Nothing is
// recorded without a file; serve --record FILE gives one, too.
type Record struct {
	File    string `yaml:"file" doc:"Path of the trace; serve --record FILE says another. Without it nothing is recorded. What is there already is moved aside to FILE.1, as is the file itself when it is full. It holds no path, header, address or body, and tenants and sessions as salted hashes only."`
	MaxSize Bytes  `yaml:"max_size" default:"64MiB" min:"1MiB" large:"16GiB" doc:"Size at which a file is moved aside. A request takes about 20 bytes."`
	Keep    int    `yaml:"keep" default:"8" min:"1" max:"1000" doc:"How many files are kept, the one being written included: max_size times keep bounds the disk."`
	Salt    Text   `yaml:"salt" doc:"What tenants and sessions are hashed with, at least 16 characters, so that two recordings can be joined. Default: made anew at each start and written nowhere."`
}

// saltLeast is the shortest salt: what is shorter can be tried out, and with it
// every tenant's name.
const saltLeast = 16

func (r *Record) fill() {
	r.MaxSize = cmp.Or(r.MaxSize, 64<<20)
	r.Keep = cmp.Or(r.Keep, 8)
}

// record checks what the ranges do not.
func (k *checker) record() {
	if s := k.cfg.Record.Salt.Value(); s != "" && len(s) < saltLeast {
		k.report("record.salt", "write 16 or more, or leave it out", "has %d characters and can be guessed", len(s))
	}
}

// TenantNames returns the tenants that the classes name, in order, each once. A
// recording and who replays it count them in this order.
func (c *Config) TenantNames() []string {
	var names []string
	for _, class := range c.Classes {
		for name := range class.Tenant.Weights { // order does not matter: they are sorted
			names = append(names, name)
		}
		names = append(names, class.Tenant.Order...)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// RulesDigest is a [Config.Digest] of what decides about requests: where the
// services are, addresses, logs and the recording itself are left out. Traffic
// recorded under a configuration of the same one meets the same rules again.
func (c *Config) RulesDigest() string {
	rules := &Config{Version: c.Version, Seed: c.Seed, Upstreams: slices.Clone(c.Upstreams), Classes: c.Classes, Quotas: c.Quotas}
	for i := range rules.Upstreams {
		rules.Upstreams[i] = rules.Upstreams[i].elsewhere()
	}
	return rules.Digest()
}
