package sqlite

import (
	"context"
	"fmt"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/spillway-dev/spillway/ledger"
	"github.com/spillway-dev/spillway/policy/quota"
)

// Reservations against three of 10,000 budgets, synced: one at a time, and by many
// callers who wait for their verdicts.
func BenchmarkReserve(b *testing.B) {
	for _, callers := range []int{1, 64} {
		b.Run(fmt.Sprintf("callers=%d", callers), func(b *testing.B) {
			s, err := Open(filepath.Join(b.TempDir(), "ledger.db"))
			if err != nil {
				b.Fatal(err)
			}
			l, err := ledger.Open(context.Background(), s, "one")
			if err != nil {
				b.Fatal(err)
			}
			defer l.Close()
			var n atomic.Int64
			b.SetParallelism((callers + 1) / 2) // of two processors
			b.ReportAllocs()
			b.ResetTimer()
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					i := n.Add(1)
					big := func(kind string, i int64) ledger.Ref {
						return ledger.Ref{Name: fmt.Sprint(kind, i%3333), Limit: quota.Limit{Unit: quota.Tokens, Most: quota.MostMax, Refill: 1, Every: time.Second}}
					}
					g, err := l.Reserve(context.Background(), ledger.Ask{
						ID: fmt.Sprint(i), Amounts: quota.Amounts{quota.Tokens: 1}, Budgets: []ledger.Ref{big("a", i), big("b", i*7), big("c", i*13)},
					})
					if err != nil || !g.OK() {
						b.Error(g, err)
						return
					}
				}
			})
		})
	}
}
