package gateway

import (
	"net/http"

	"github.com/spillway-dev/spillway/config"
	"github.com/spillway-dev/spillway/config/assemble"
	"github.com/spillway-dev/spillway/gate/resend"
	"github.com/spillway-dev/spillway/gateway/jobs"
	"github.com/spillway-dev/spillway/policy/reason"
)

// jobSettings are what is configured of jobs.
func jobSettings(cfg *config.Config) jobs.Settings {
	j, p := cfg.Jobs, assemble.JobsOf(cfg)
	return jobs.Settings{
		Workers: j.Workers, Rules: p.Rules, Most: p.Most, Each: p.Each,
		Body: int64(j.Body), Answer: int64(j.Answer), Keep: j.Keep.D(),
		Deadline: j.Deadline.D(), DeadlineMax: j.MaxDeadline.D(),
		Hooks: jobs.Hooks{
			Hosts: j.Webhooks.Hosts, Secret: j.Webhooks.Secret.Value(),
			Timeout: j.Webhooks.Timeout.D(), Attempts: int64(j.Webhooks.Attempts),
		},
	}
}

// jobClasses are the classes as their jobs go by them.
func (n *generation) jobClasses() []jobs.Class {
	all := make([]jobs.Class, len(n.classes))
	for i, c := range n.classes {
		t := assemble.JobTenants(c.cfg)
		all[i] = jobs.Class{Name: c.name, Policy: t.Policy, Weights: t.Weights, Ranks: t.Ranks}
	}
	return all
}

// harmless reports whether doing a request of the class twice is doing it once. All
// attempts of what is kept go under one idempotency key.
func (c *class) harmless(method string) bool {
	return c.cfg.Repeat.On() || c.honoursKeys || resend.Safe(method) || method == http.MethodPut || method == http.MethodDelete
}

// lasting reports whether a request that was refused for that reason is of use later: it
// becomes a job where its class says so.
func lasting(why reason.Reason) bool {
	switch why {
	case reason.QueueFull, reason.QueueBytes, reason.TenantFull, reason.Infeasible,
		reason.QuotaRequests, reason.QuotaTokens, reason.QuotaConcurrency:
		return true
	}
	return false
}
