package store

import (
	"testing"
	"time"

	"github.com/spillway-dev/spillway/policy/call"
)

func BenchmarkRound(b *testing.B) {
	b.ReportAllocs()
	lookups := int64(0)
	for i := range b.N {
		r, err := New(Scenario{
			Draws: NewDraws(1, i, Freezing, 0), Rate: 450, For: 30 * time.Second, Senders: 64, Rest: 1900 * time.Microsecond,
			Policy: call.Policy{Timeout: 25 * time.Millisecond, Retries: 2, Budget: call.Budget{Off: true}}, Store: Store{Slots: 16},
		})
		if err != nil {
			b.Fatal(err)
		}
		sums, err := r.Play(Watch{})
		if err != nil {
			b.Fatal(err)
		}
		lookups += sums.Lookups
	}
	b.ReportMetric(float64(lookups)/b.Elapsed().Seconds(), "lookups/s")
}
