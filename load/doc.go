// Package load offers requests to a live service on a schedule that is known
// beforehand, and reports what became of them. It is behind `spillway load`, the
// demo and the live labs.
//
// The generator is open-loop: a request goes out when the schedule says so,
// however long earlier ones take, and its latency counts from then, never from
// when the generator got round to sending it. What the generator itself did
// wrong is part of the result: [Lag] (actual minus scheduled instant of
// leaving), requests sent late, requests not sent at all because
// Config.MaxInFlight were on the way. A result whose lag exceeds its bound says
// so in [Result.LagExceeded] and should not be believed.
//
//	names := workload.NewNames()
//	source, err := workload.Spec{Rate: rate, For: time.Minute, Tenants: mix}.Source(names)
//	result, err := load.Run(ctx, load.Config{
//		URL:    "http://127.0.0.1:8080/checkout/{{.N}}",
//		Header: []string{"X-Tenant: {{.Tenant}}"},
//		Source: source,
//		Names:  names,
//	})
//	fmt.Println(result.Lag.P99, result.LagExceeded)
//	document := result.Collector.Report(report.About{Mode: "live"})
//
// One operating-system thread walks the schedule: it sleeps in the kernel until
// a request is due and writes it to an idle connection itself, so that neither
// Go's timers nor its scheduler stand between plan and wire. Each connection has
// a goroutine that reads its answers. Connections are opened ahead of need. For
// https and HTTP/2 a request is handed to a goroutine and net/http instead, which
// costs about ten times as much and lags more.
//
// Nothing is sent twice behind the report's back: a connection that breaks is a
// failed request, and a second attempt is made only where Config.HonourRetryAfter
// asks for it.
package load
