package report_test

import (
	"fmt"
	"time"

	"github.com/spillway-dev/spillway/policy/reason"
	"github.com/spillway-dev/spillway/report"
)

// Three requests: one is served after a wait, one is refused at once, one is
// still running when the report is made.
func Example() {
	c := report.NewCollector(report.Options{For: time.Second})
	t := c.Tally("checkout", "acme") // once, and kept

	t.Offered(0)
	t.Offered(10e6)
	t.Offered(20e6)
	t.Done(report.Outcome{At: 20e6, Latency: 30_000, Rung: report.NoRung, Reason: reason.QueueFull})
	t.Started(50e6, 50e6)
	t.Done(report.Outcome{At: 150e6, Latency: 150e6, Rung: report.Primary, Reason: reason.Served, Started: true, InDeadline: true, Calls: 1})
	t.Started(150e6, 140e6)

	r := c.Report(report.About{Mode: "virtual", Seed: 1})
	fmt.Println(r.Check())
	fmt.Println(r.Offered, r.Reasons, r.Waiting, r.Running, r.P99Ms)
	fmt.Println(r.Finding())
	// Output:
	// <nil>
	// 3 map[queue_full:1 served:1] 0 1 150
	// checkout was offered 3.00/s: 1.00/s were served in full and on time (p99 150 ms), 33.3 % were refused by us (queue_full), 33.3 % had no answer at the end.
}
