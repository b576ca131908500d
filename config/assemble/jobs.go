package assemble

import (
	"github.com/spillway-dev/spillway/config"
	"github.com/spillway-dev/spillway/policy/call"
	"github.com/spillway-dev/spillway/policy/job"
	"github.com/spillway-dev/spillway/policy/pool"
)

// Jobs is what policy goes by for jobs: how often they are tried again, and how many
// there may be in all and of each tenant of a class.
type Jobs struct {
	Rules      job.Rules
	Most, Each job.Bounds
}

// JobsOf returns it for a configuration that passed validation.
func JobsOf(cfg *config.Config) Jobs {
	j := cfg.WithDefaults().Jobs
	return Jobs{
		Rules: job.Rules{Attempts: int64(j.Attempts), Backoff: call.Backoff{Base: j.Pause.Base.D(), Max: j.Pause.Max.D(), Jitter: call.Full}},
		Most:  job.Bounds{Jobs: int64(j.Waiting), Bytes: int64(j.Bytes)},
		Each:  job.Bounds{Jobs: int64(j.PerTenant.Waiting), Bytes: int64(j.PerTenant.Bytes)},
	}
}

// JobTenants is how the tenants of a class share what is done of its jobs: as they share
// its slots.
func JobTenants(c config.Class) pool.TenantConfig { return tenants(c.Tenant) }
