package demo

import (
	"fmt"
	"time"

	"github.com/spillway-dev/spillway/config"
	"github.com/spillway-dev/spillway/trial"
	"github.com/spillway-dev/spillway/workload"
)

// The service: 48 slots of 100 ms are 480 requests a second.
const (
	slots       = 48
	serviceTime = 100 * time.Millisecond
	deadline    = 500 * time.Millisecond // of both classes, and what callers allow
)

// capacities are what the classes' slots can do, for the line in the pictures.
var capacities = []struct {
	class     string
	perSecond float64
}{
	{"checkout", 40 / serviceTime.Seconds()},
	{"analytics", 8 / serviceTime.Seconds()},
}

// file is the configuration that both the gateway and the simulator run. The
// checkout's deadline leaves its budget some air, so that a millisecond of
// jitter decides nothing.
const file = `version: 1
listen: "127.0.0.1:0"
admin: "127.0.0.1:0"
seed: %d
upstreams:
  shop: { url: "%s", slots: 48, service: 100ms }
classes:
  checkout:
    match: { path: "/checkout/*" }
    upstream: shop
    slots: 40
    budget: { latency: 300ms, service: 100ms }
    deadline: 500ms
    tenant: { key: "header:X-Tenant", policy: wrr }
  analytics:
    match: { path: "/analytics/*" }
    upstream: shop
    slots: 8
    deadline: 500ms
    budget: { latency: 300ms, service: 100ms }
    when_full: drop
`

// scene is the load of the demo: twice what the service can do. Of the
// checkout's callers one tenant alone sends three times the others together,
// and the analytics flood asks for more than four times its slots.
func scene() ([]trial.Load, error) {
	checkout, err := offered("checkout", 600)
	if err != nil {
		return nil, err
	}
	if checkout.Spec.Tenants, err = workload.ParseMix("noisy=6,acme=1,beta=1"); err != nil {
		return nil, err
	}
	analytics, err := offered("analytics", 360)
	return []trial.Load{checkout, analytics}, err
}

func offered(class string, perSecond float64) (trial.Load, error) {
	rate, err := workload.ConstantRate(perSecond)
	return trial.Load{Class: class, Spec: workload.Spec{Rate: rate}}, err
}

func configure(url string, seed uint64) (*config.Config, error) {
	return config.Parse("demo.yaml", fmt.Appendf(nil, file, seed, url))
}
