package postgres

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/spillway-dev/spillway/ledger"
	"github.com/spillway-dev/spillway/policy/quota"
	"github.com/spillway-dev/spillway/test/cluster"
)

// oneStatement is a reservation as one statement: it takes of the hot row if there is
// room, and writes the call.
const oneStatement = `WITH taken AS (UPDATE hot SET remaining = remaining - 1 WHERE name = 'hot' AND remaining >= 1 RETURNING name)
	INSERT INTO hot_calls (id, budget) SELECT $1, name FROM taken`

// BenchmarkHotRow holds 32 callers of one gateway, all of whom take of one row, against
// 32 connections that do it with a statement each, in turns of the same run: how many
// times as many, and how long the slowest hundredth waits. Run it with -benchtime 1x.
func BenchmarkHotRow(b *testing.B) {
	ctx := context.Background()
	c := cluster.Start(b)
	for n := range b.N {
		url := c.Database(b, fmt.Sprint("hot", n))
		s, err := Open(ctx, url)
		if err != nil {
			b.Fatal(err)
		}
		l, err := ledger.Open(ctx, s, "one")
		if err != nil {
			b.Fatal(err)
		}
		cfg, err := pgxpool.ParseConfig(url)
		if err != nil {
			b.Fatal(err)
		}
		cfg.MaxConns, cfg.ConnConfig.DefaultQueryExecMode = 32, pgx.QueryExecModeCacheStatement // its best case
		pool, err := pgxpool.NewWithConfig(ctx, cfg)
		if err != nil {
			b.Fatal(err)
		}
		if _, err := pool.Exec(ctx, "CREATE TABLE hot (name text PRIMARY KEY, remaining bigint NOT NULL) WITH (fillfactor = 50)"); err != nil {
			b.Fatal(err)
		}
		if _, err := pool.Exec(ctx, "INSERT INTO hot VALUES ('hot', 9007199254740992)"); err != nil {
			b.Fatal(err)
		}
		if _, err := pool.Exec(ctx, "CREATE TABLE hot_calls (id text PRIMARY KEY, budget text NOT NULL)"); err != nil {
			b.Fatal(err)
		}
		budget := ledger.Ref{Name: "hot", Limit: quota.Limit{Unit: quota.Tokens, Most: quota.MostMax, Refill: 1, Every: time.Hour}}
		var ratios []float64
		var waits []time.Duration
		var ours, theirs float64
		for round := range 5 {
			theirs, _ = by32(b, round, func(id string) error {
				_, err := pool.Exec(ctx, oneStatement, id)
				return err
			})
			var took []time.Duration
			ours, took = by32(b, round, func(id string) error {
				g, err := l.Reserve(ctx, ledger.Ask{ID: id, Budgets: []ledger.Ref{budget}, Amounts: quota.Amounts{quota.Tokens: 1}})
				if err == nil && !g.OK() {
					err = fmt.Errorf("%+v", g)
				}
				return err
			})
			ratios, waits = append(ratios, ours/theirs), append(waits, took...)
		}
		pool.Close()
		l.Close()
		slices.Sort(ratios)
		slices.Sort(waits)
		b.ReportMetric(ratios[len(ratios)/2], "x/one-statement")
		b.ReportMetric(ours, "reservations/s")
		b.ReportMetric(theirs, "one-statement/s")
		b.ReportMetric(float64(waits[len(waits)*99/100])/1e6, "p99-ms")
	}
}

// by32 has 32 hands do something for a second, and returns how often a second, and how
// long each took.
func by32(b *testing.B, round int, do func(id string) error) (perSecond float64, took []time.Duration) {
	b.Helper()
	var mu sync.Mutex
	var hands sync.WaitGroup
	begun := time.Now()
	for hand := range 32 {
		hands.Go(func() {
			var mine []time.Duration
			for n := 0; time.Since(begun) < time.Second; n++ {
				from := time.Now()
				if err := do(fmt.Sprint(round, "-", hand, "-", n)); err != nil {
					b.Error(err)
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
