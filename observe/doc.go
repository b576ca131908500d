// Package observe turns what gates know into what operators see: Prometheus
// metrics and logs.
//
// [Metrics] reads the gates when it is scraped, so that a request pays for
// nothing but two histograms ([Histogram], under 100 ns each while two cores share
// one):
//
//	m := observe.New(observe.Options{Version: "1.2.3"})
//	m.Watch("app", gate)
//	seen := m.Class("app", "checkout")
//	seen.Wait.Observe(waited)
//
// Every metric is in one table ([Table]), from which docs/reference/metrics.md
// is generated; a test holds code and page together.
//
// # What is bounded
//
// Labels are names from the configuration, the closed sets of reasons and
// rungs, and the names of at most [TenantsMost] tenants a class; all other
// tenants are "other" together. Nothing that a caller sends becomes a label but
// a tenant's name, and that only escaped and cut. Logs of refusals are sampled
// ([Sampler]).
//
// Everything here may be used by many goroutines at once.
package observe
