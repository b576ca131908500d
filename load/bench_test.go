package load_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/spillway-dev/spillway/load"
	"github.com/spillway-dev/spillway/workload"
)

// BenchmarkLag offers 5,000 and 20,000 Poisson requests a second for 10 s to a
// net/http server in the same process, which has to share the processors, and
// reports by how much the generator missed its schedule.
func BenchmarkLag(b *testing.B) {
	for _, rate := range []string{"5000", "20000"} {
		b.Run(rate, func(b *testing.B) {
			target := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, "ok") }))
			defer target.Close()
			for b.Loop() {
				names := workload.NewNames()
				source := must(workload.Spec{Seed: 1, Rate: must(workload.ParseRate(rate)), For: 10 * time.Second, Tenants: must(workload.ParseMix("acme=8,beta=1"))}.Source(names))
				r, err := load.Run(b.Context(), load.Config{URL: target.URL + "/", Header: []string{"X-Tenant: {{.Tenant}}"}, Source: source, Names: names})
				if err != nil {
					b.Fatal(err)
				}
				b.ReportMetric(r.Lag.P50, "lag-p50-ms")
				b.ReportMetric(r.Lag.P99, "lag-p99-ms")
				b.ReportMetric(r.Lag.Max, "lag-max-ms")
				b.ReportMetric(float64(r.Unsent), "unsent")
				b.ReportMetric(float64(r.Attempts)/r.Elapsed.Seconds(), "sent/s")
				b.ReportMetric(float64(r.Connections), "connections")
			}
		})
	}
}
