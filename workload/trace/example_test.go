package trace_test

import (
	"fmt"
	"strings"

	"github.com/spillway-dev/spillway/workload"
	"github.com/spillway-dev/spillway/workload/trace"
)

func Example() {
	file := strings.NewReader(`time,customer,tokens_in,tokens_out,took
1700000000.250,acme,100,20,310
1700000000.500,beta,7,not counted,90
1700000001.000,acme,50,10,120
`)
	mapping, err := trace.ParseMapping("at=time,tenant=customer,cost=tokens_in+2*tokens_out,service=took:ms")
	if err != nil {
		fmt.Println(err)
		return
	}
	r, err := trace.New(file, "requests.csv", trace.Options{Mapping: mapping})
	if err != nil {
		fmt.Println(err)
		return
	}
	var a workload.Arrival
	for r.Next(&a) {
		fmt.Println(a.At, r.Names().Tenants.String(a.Tenant), a.Cost, a.Service)
	}
	fmt.Println(r.Stats())
	// Output:
	// 0s acme 140 310ms
	// 750ms acme 70 120ms
	// 1 damaged lines of 3: line 3: cost: "not counted" is no number
}
