package workload_test

import (
	"fmt"
	"time"

	"github.com/spillway-dev/spillway/workload"
)

// A minute of checkout traffic that triples for ten seconds, beside a batch job
// that comes in bursts.
func Example() {
	names := workload.NewNames()
	rate, _ := workload.ParseRate("100:25s,300:10s,100:25s")
	service, _ := workload.ParseService("lognormal:mean=100ms,p99=400ms")
	tenants, _ := workload.ParseMix("acme=8,beta=1")
	checkout, err := workload.Spec{
		Seed: 1, Stream: "checkout", Classes: workload.Only("checkout"),
		Rate: rate, Service: service, Tenants: tenants, Deadline: 300 * time.Millisecond,
	}.Source(names)
	if err != nil {
		fmt.Println(err)
		return
	}
	bursts, _ := workload.ParseArrivals("bursts:on=1s,off=9s")
	batchRate, _ := workload.ConstantRate(20)
	batch, err := workload.Spec{
		Seed: 1, Stream: "batch", Classes: workload.Only("analytics"),
		Rate: batchRate, Arrivals: bursts, For: time.Minute,
	}.Source(names)
	if err != nil {
		fmt.Println(err)
		return
	}

	source := workload.Merge(checkout, batch)
	offered := map[string]int{}
	var a workload.Arrival
	for source.Next(&a) {
		offered[names.Classes.String(a.Class)]++
	}
	fmt.Println(offered)
	// Output: map[analytics:1190 checkout:8010]
}

// Work that is slowed down half-way and then stands still for a second.
func ExampleConditions_Finish() {
	conditions, _ := workload.ParseConditions("x2@10s+1s,outage@11s+1s")
	fmt.Println(conditions.Finish(9500*time.Millisecond, 1500*time.Millisecond))
	// Output: 12.5s
}
