// Package workload says what is offered: which requests arrive when, of which
// class and tenant, how long each will take and what it costs. Simulator, load
// generator, demo and labs read the same values from it, so that one seed means
// the same requests everywhere, live and in virtual time.
//
// A [Source] streams [Arrival] values in order of time. A [Spec] makes one from
// a rate and a seed; package workload/trace reads one from a recording; Merge,
// Scale, Speed, Until, Take and WithService make sources of sources:
//
//	names := workload.NewNames()
//	rate, err := workload.ParseRate("100:60s,300:30s")
//	service, err := workload.ParseService("lognormal:mean=100ms,p99=400ms")
//	source, err := workload.Spec{
//		Seed: 1, Stream: "checkout", Classes: workload.Only("checkout"),
//		Rate: rate, Service: service,
//	}.Source(names)
//
//	var a workload.Arrival
//	for source.Next(&a) {
//		offer(a.At, names.Tenants.String(a.Tenant))
//	}
//	if err := workload.Err(source); err != nil { ... }
//
// Everything that has a flag has a parser here with the flag's grammar, and a
// String method that prints what the parser reads:
//
//	ParseRate        2000 | 100:60s,300:30s | 100:10s,200
//	ParseArrivals    poisson | constant | bursts:on=1s,off=9s
//	ParseService     100ms | exp:100ms | uniform:1s-2s | lognormal:mean=100ms,p99=400ms | mix:0.99*2.9ms,0.01*1.5s | trace
//	ParseConditions  x3@10s+5s,outage@20s+10s
//	ParseMix         acme=8,beta=1
//
// Times are integer nanoseconds from the start of the offered load. No source
// allocates per request or grows with the number of requests, and none is safe
// for concurrent use.
package workload
