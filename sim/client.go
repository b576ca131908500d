package sim

import (
	"github.com/spillway-dev/spillway/policy/chance"
	"github.com/spillway-dev/spillway/policy/rate"
)

// client returns who asks, for client limits. A run has no addresses: a tenant
// is taken for one client.
func (r *run) client(tenant string) rate.Key {
	return max(rate.Key(chance.Mix(chance.Key(tenant)^r.Seed)), 1)
}
