package record_test

import (
	"testing"
	"time"

	"github.com/spillway-dev/spillway/workload/record"
)

// BenchmarkAdd is what a request pays on its way: two hashes and the hand-over.
func BenchmarkAdd(b *testing.B) {
	rec, _ := recorder(b, record.Options{MaxSize: record.MaxSizeLeast, Keep: 1, Flush: 10 * time.Millisecond})
	b.ReportAllocs()
	var i int64
	for b.Loop() {
		i++
		rec.Add(&record.Request{
			Arrival: time.Duration(i), Service: time.Duration(i), Outcome: 1,
			Tenant: rec.Hash("tenant-0815"), Session: rec.Hash("3f786850e387550fdab836ed7e6dc881de23001b"),
		})
	}
}

// TestAddAllocatesNothing on the request's way.
func TestAddAllocatesNothing(t *testing.T) {
	rec, _ := recorder(t, record.Options{Flush: time.Hour})
	q := record.Request{Arrival: 1}
	n := testing.AllocsPerRun(1000, func() {
		q.Tenant = rec.Hash("tenant-0815")
		rec.Add(&q)
	})
	if n != 0 {
		t.Errorf("%v allocations a request", n)
	}
}
