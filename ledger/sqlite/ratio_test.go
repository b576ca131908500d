package sqlite

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/spillway-dev/spillway/ledger"
	"github.com/spillway-dev/spillway/policy/quota"
)

// BenchmarkGroupCommit holds 64 callers who wait for their verdicts against one caller,
// each of whose reservations is a transaction, in turns of the same run on the same
// disk: how many times as many, and how long the slowest hundredth waits. Run it with
// -benchtime 1x; the folder is on the disk that is meant (TMPDIR).
func BenchmarkGroupCommit(b *testing.B) {
	for range b.N {
		var ratios []float64
		var waits []time.Duration
		var one, all float64
		for round := range 5 {
			one, _ = reservations(b, 1, round)
			many, took := reservations(b, 64, round)
			all = many
			ratios, waits = append(ratios, many/one), append(waits, took...)
		}
		slices.Sort(ratios)
		slices.Sort(waits)
		b.ReportMetric(ratios[len(ratios)/2], "x/one-a-transaction")
		b.ReportMetric(all, "reservations/s")
		b.ReportMetric(one, "one-a-transaction/s")
		b.ReportMetric(float64(waits[len(waits)*99/100])/1e6, "p99-ms")
	}
}

// reservations is how many reservations so many callers make in a second, and how long
// each took.
func reservations(b *testing.B, callers, round int) (perSecond float64, took []time.Duration) {
	b.Helper()
	s, err := Open(filepath.Join(b.TempDir(), "l.db"))
	if err != nil {
		b.Fatal(err)
	}
	l, err := ledger.Open(context.Background(), s, fmt.Sprint("round", round))
	if err != nil {
		b.Fatal(err)
	}
	defer l.Close()
	budget := ledger.Ref{Name: "hot", Limit: quota.Limit{Unit: quota.Tokens, Most: quota.MostMax, Refill: 1, Every: time.Hour}}
	var mu sync.Mutex
	var hands sync.WaitGroup
	begun := time.Now()
	for hand := range callers {
		hands.Go(func() {
			var mine []time.Duration
			for n := 0; time.Since(begun) < time.Second; n++ {
				from := time.Now()
				g, err := l.Reserve(context.Background(), ledger.Ask{ID: fmt.Sprint(hand, "-", n), Budgets: []ledger.Ref{budget}, Amounts: quota.Amounts{quota.Tokens: 1}})
				if err != nil || !g.OK() {
					b.Error(g, err)
					return
				}
				mine = append(mine, time.Since(from))
			}
			mu.Lock()
			defer mu.Unlock()
			took = append(took, mine...)
		})
	}
	hands.Wait()
	return float64(len(took)) / time.Since(begun).Seconds(), took
}
