package sqlite

import (
	"path/filepath"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/spillway-dev/spillway/ledger"
	"github.com/spillway-dev/spillway/ledger/conform"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// file is a place in a file.
type file string

func (f file) Open(now func() time.Time) (ledger.Store, error) { return open(string(f), now) }

func TestConforms(t *testing.T) {
	conform.Run(t, func(t testing.TB) conform.Place { return file(filepath.Join(t.TempDir(), "ledger.db")) })
}
