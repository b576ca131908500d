package load_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"time"

	"github.com/spillway-dev/spillway/load"
	"github.com/spillway-dev/spillway/report"
	"github.com/spillway-dev/spillway/workload"
)

func ExampleRun() {
	target := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("X-Tenant") == "beta" {
			w.Header().Set("Spillway-Reason", "tenant_full")
			w.Header().Set("Spillway-Rung", "refusal")
			w.WriteHeader(http.StatusTooManyRequests)
		}
	}))
	defer target.Close()

	names := workload.NewNames()
	rate, _ := workload.ParseRate("500")
	tenants, _ := workload.ParseMix("acme=8,beta=1")
	source, err := workload.Spec{Seed: 1, Rate: rate, Arrivals: workload.Constant, For: time.Second, Tenants: tenants}.Source(names)
	if err != nil {
		fmt.Println(err)
		return
	}
	result, err := load.Run(context.Background(), load.Config{
		URL:    target.URL + "/orders/{{.N}}",
		Header: []string{"X-Tenant: {{.Tenant}}"},
		Source: source,
		Names:  names,
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	document := result.Collector.Report(report.About{Mode: "live", Seed: 1, Seconds: 1})
	fmt.Println("offered", result.Offered, "unsent", result.Unsent)
	fmt.Println("acme", document.Tenants["acme"].Reasons)
	fmt.Println("beta", document.Tenants["beta"].Reasons)
	// Output:
	// offered 500 unsent 0
	// acme map[served:437]
	// beta map[tenant_full:63]
}
