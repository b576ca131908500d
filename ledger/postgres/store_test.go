package postgres

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/spillway-dev/spillway/ledger"
	"github.com/spillway-dev/spillway/ledger/conform"
	"github.com/spillway-dev/spillway/test/cluster"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// database is a place in a database.
type database string

func (d database) Open(now func() time.Time) (ledger.Store, error) {
	return open(context.Background(), string(d), now)
}

func TestConforms(t *testing.T) {
	c := cluster.Start(t)
	var n atomic.Int64
	conform.Run(t, func(t testing.TB) conform.Place { return database(c.Database(t, fmt.Sprint("ledger", n.Add(1)))) })
}
