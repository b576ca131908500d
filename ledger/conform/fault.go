package conform

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/spillway-dev/spillway/ledger"
	"github.com/spillway-dev/spillway/policy/quota"
)

// failingStore fails a transaction after what it was to do was done, or before.
type failingStore struct {
	ledger.Store
	mu     sync.Mutex
	before bool
	after  bool
}

var errDisk = errors.New("the disk is full")

func (s *failingStore) set(before, after bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.before, s.after = before, after
}

func (s *failingStore) Update(ctx context.Context, t ledger.Touches, f func(ledger.Rows) error) error {
	s.mu.Lock()
	before, after := s.before, s.after
	s.mu.Unlock()
	if before {
		return errDisk
	}
	return s.Store.Update(ctx, t, func(r ledger.Rows) error {
		if err := f(r); err != nil || !after {
			return err
		}
		return errDisk
	})
}

// Whatever fails, nothing has happened, and nobody is told that it has.
func failing(t *testing.T, fresh func(testing.TB) Place) {
	inner, err := fresh(t).Open(nil)
	if err != nil {
		t.Fatal(err)
	}
	s := &failingStore{Store: inner}
	l, err := ledger.Open(ctx, s, "one")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { closeAndAudit(t, l) })
	pool := slots("calls", 2)
	must(t, l, ask("a", oneCall(1), pool))
	for name, step := range map[string]func() error{
		"reserve": func() error { _, err := l.Reserve(ctx, ask("b", oneCall(1), pool)); return err },
		"start":   func() error { return l.Start(ctx, "a", 0) },
		"release": func() error { return l.Release(ctx, "a", 0) },
	} {
		for _, when := range [][2]bool{{true, false}, {false, true}} {
			s.set(when[0], when[1])
			if err := step(); !errors.Is(err, ledger.ErrUnavailable) || !errors.Is(err, errDisk) {
				t.Errorf("%s: %v, want that it is not available and why", name, err)
			}
		}
	}
	s.set(false, false)
	if got := state(t, l, "a"); got != quota.Reserved {
		t.Errorf("a is %v", got)
	}
	must(t, l, ask("b", oneCall(1), pool)) // once it works again, without a restart
}

// hand is a clock that somebody sets. It has no monotonic part, as a store's own
// has none.
type hand struct {
	mu sync.Mutex
	at time.Time
}

func (h *hand) now() time.Time {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.at
}

func (h *hand) step(d time.Duration) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.at = h.at.Add(d)
}

// The store's clock is set back and forward by ten minutes, while it is open and
// while it is closed: back credits nothing, forward one burst, and what passes
// afterwards counts as always.
func clock(t *testing.T, fresh func(testing.TB) Place) {
	for _, reopened := range []bool{false, true} {
		t.Run(fmt.Sprint("reopened ", reopened), func(t *testing.T) {
			p, h := fresh(t), &hand{at: time.Date(2026, 5, 10, 12, 0, 0, 0, time.UTC)}
			l := openAt(t, p, "0", h.now)
			budget := tokens("tokens", 10, 10, time.Minute)
			n := 0
			take := func(want int64) bool {
				n++
				g, err := l.Reserve(ctx, ask(fmt.Sprint(n), quota.Amounts{quota.Tokens: want}, budget))
				if err != nil {
					t.Fatal(err)
				}
				return g.OK()
			}
			for i, c := range []struct {
				step time.Duration
				want int64 // so many are there, and no more
			}{
				{0, 10}, {6 * time.Second, 1}, {-10 * time.Minute, 0}, {6 * time.Second, 1}, {10 * time.Minute, 10}, {6 * time.Second, 1}, {-time.Hour, 0}, {12 * time.Second, 2},
			} {
				h.step(c.step)
				if reopened {
					if err := l.Close(); err != nil {
						t.Fatal(err)
					}
					l = openAt(t, p, fmt.Sprint(i+1), h.now)
				}
				if c.want > 0 && !take(c.want) {
					t.Errorf("step %d, %v: %d are not there", i, c.step, c.want)
				}
				if take(1) {
					t.Errorf("step %d, %v: more than %d are there", i, c.step, c.want)
				}
			}
		})
	}
}
