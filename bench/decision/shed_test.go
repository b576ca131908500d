package decision

import (
	"testing"
	"time"

	"github.com/spillway-dev/spillway/policy/boundary"
	"github.com/spillway-dev/spillway/policy/pool"
	"github.com/spillway-dev/spillway/policy/reason"
	"github.com/spillway-dev/spillway/policy/shed"
	"github.com/spillway-dev/spillway/policy/unit"
)

// BenchmarkShed is the verdict about a request of one of a thousand sessions, its gap
// known, in a class of 64 slots of 8 ms whose slots and room are full and that is
// offered twenty times what they can do: nineteen of twenty are shed, and the others
// refused for want of room.
func BenchmarkShed(b *testing.B) {
	m, err := boundary.New(boundary.Config{Name: "app", Classes: []boundary.Class{{
		Name: "score", Deadline: 50 * time.Millisecond, Shed: &shed.Rule{}, AdmitHopeless: true,
		Pool: pool.Config{Slots: 64, Latency: 50 * time.Millisecond, Service: 8 * time.Millisecond},
	}}})
	if err != nil {
		b.Fatal(err)
	}
	var out boundary.Effects
	r := boundary.Request{}
	now, i, shedN := unit.Instant(0), uint64(0), 0
	offer := func() {
		i++
		now = now.Add(6250 * time.Nanosecond) // 160,000/s
		r.Session, r.Gap, r.Deadline = 1+i%1000, shed.Gap(i%1000*1000), now.Add(time.Hour)
		if m.Offer(now, &r, &out).Reason == reason.ShedForLoad {
			shedN++
		}
	}
	for range 200_000 {
		offer()
	}
	i, shedN = 0, 0
	b.ReportAllocs()
	for b.Loop() {
		offer()
	}
	if float64(shedN) < 0.9*float64(i) {
		b.Fatalf("%d of %d were shed", shedN, i)
	}
}
