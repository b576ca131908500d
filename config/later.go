package config

// The types here belong to capabilities that come later; notyet.go says which. They
// are part of the format so that a file written for them is understood today.

// Quota is what may be spent per time.
type Quota struct {
	Name       string      `yaml:"-"`
	Requests   Bucket      `yaml:"requests" doc:"Requests."`
	Tokens     Bucket      `yaml:"tokens" doc:"Tokens."`
	Concurrent int         `yaml:"concurrent" min:"1" max:"1000000" doc:"Calls at once."`
	PerTenant  TenantQuota `yaml:"per_tenant" doc:"The same for each tenant."`
}

// TenantQuota is what one tenant may spend per time.
type TenantQuota struct {
	Requests   Bucket `yaml:"requests" doc:"Requests."`
	Tokens     Bucket `yaml:"tokens" doc:"Tokens."`
	Concurrent int    `yaml:"concurrent" min:"1" max:"1000000" doc:"Calls at once."`
}

// Bucket is an amount at once and a refill.
type Bucket struct {
	Burst     int64   `yaml:"burst" required:"true" min:"1" max:"1000000000000" doc:"The most at once."`
	PerSecond float64 `yaml:"per_second" required:"true" min:"0.000001" max:"1e9" doc:"Refill a second."`
}

// Ledger is where reservations and jobs are kept.
type Ledger struct {
	URL Text `yaml:"url" required:"true" doc:"sqlite:FILE or postgres://..."`
}
