package report

import (
	"fmt"
	"testing"
	"time"

	"github.com/spillway-dev/spillway/policy/reason"
)

// BenchmarkTally is the cost of one record, all three of a request counted
// singly, and of a whole request over 100 tenants.
func BenchmarkTally(b *testing.B) {
	latencies := make([]int64, 1<<12)
	for i := range latencies {
		latencies[i] = int64(i*i%9973) * 31_013
	}
	open := func() (*Collector, *Tally, reason.Reason) {
		c := NewCollector(Options{For: time.Minute})
		return c, c.Tally("checkout", "acme"), c.Reason("queue_full")
	}
	b.Run("Offered", func(b *testing.B) {
		_, t, _ := open()
		b.ReportAllocs()
		for i := 0; b.Loop(); i++ {
			t.Offered(int64(i) * 700 % 60e9)
		}
	})
	b.Run("Started", func(b *testing.B) {
		_, t, _ := open()
		b.ReportAllocs()
		for i := 0; b.Loop(); i++ {
			t.Started(int64(i)*700%60e9, latencies[i&(1<<12-1)])
		}
	})
	b.Run("Answered", func(b *testing.B) {
		_, t, _ := open()
		b.ReportAllocs()
		for i := 0; b.Loop(); i++ {
			t.Done(Outcome{At: int64(i) * 700 % 60e9, Latency: latencies[i&(1<<12-1)], Reason: reason.Served, Started: true, InDeadline: true, Calls: 1})
		}
	})
	b.Run("Refused", func(b *testing.B) {
		_, t, full := open()
		b.ReportAllocs()
		for i := 0; b.Loop(); i++ {
			t.Done(Outcome{At: int64(i) * 700 % 60e9, Latency: latencies[i&(1<<12-1)], Rung: NoRung, Reason: full})
		}
	})
	b.Run("request100tenants", func(b *testing.B) {
		c := NewCollector(Options{For: time.Minute})
		tallies := make([]*Tally, 100)
		for i := range tallies {
			tallies[i] = c.Tally("checkout", fmt.Sprint("tenant", i))
		}
		b.ReportAllocs()
		for i := 0; b.Loop(); i++ {
			at, t := int64(i)*700%60e9, tallies[i%100]
			l := latencies[i&(1<<12-1)]
			t.Offered(at)
			t.Started(at, l/2)
			t.Done(Outcome{At: at, Latency: l, Reason: reason.Served, Started: true, InDeadline: true, Calls: 1})
			t.Held(at, l/2)
		}
	})
}
