package standin

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/spillway-dev/spillway/gate"
	"github.com/spillway-dev/spillway/policy/reason"
)

var errNotFound = errors.New("no such customer")

// rig is a ladder of a last-known score and a default, with one key known for a
// minute.
func rig(t *testing.T) (*Ladder[float64], *Store[float64]) {
	s := New(Options[float64]{Limits: Limits{Age: time.Hour}})
	l, err := NewLadder(LadderOptions{Final: func(err error) bool { return errors.Is(err, errNotFound) }},
		LastKnown(s), Default(0.5))
	if err != nil {
		t.Fatal(err)
	}
	s.PutAged("known", 0.9, time.Minute)
	return l, s
}

func TestWhoAnswers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, _ := rig(t)
		for _, c := range []struct {
			fault string
			key   string
			err   error
			want  string
		}{
			{"none", "known", nil, "0.1 primary served 0s <nil>"},
			{"the dependency refuses the connection", "known2", errors.New("connection refused"), "0.5 default failed 0s <nil>"},
			{"the dependency is slow", "other", context.DeadlineExceeded, "0.5 default timeout 0s <nil>"},
			{"its breaker is open", "other", fmt.Errorf("call: %w", reason.BreakerOpen), "0.5 default breaker_open 0s <nil>"},
			{"nobody knows whether it did it", "other", reason.Unknown, "0.5 default unknown 0s <nil>"},
			{"the queue is full", "other", &gate.Refusal{Reason: reason.QueueFull}, "0.5 default queue_full 0s <nil>"},
			{"the caller asks too often", "other", &gate.Refusal{Reason: reason.RateLimited}, "0 refusal rate_limited 0s spillway: rate_limited, retry after 0s"},
			{"the answer is that there is none", "other", errNotFound, "0 refusal failed 0s no such customer"},
		} {
			v, said, err := Do(t.Context(), l, c.key, func(context.Context) (float64, error) { return 0.1, c.err })
			if got := fmt.Sprintln(v, said.Rung, said.Reason, said.Age, err); got != c.want+"\n" {
				t.Errorf("%s: %s, want %s", c.fault, got, c.want)
			}
		}
	})
}

func TestTheLastKnownAnswerSaysHowOldItIs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, s := rig(t)
		down := func(context.Context) (float64, error) { return 0, errors.New("down") }
		v, said, err := Do(t.Context(), l, "known", down)
		if v != 0.9 || said != (Answer{"last_known", reason.Failed, time.Minute}) || err != nil {
			t.Error(v, said, err)
		}
		// A stand-in is not learned: it would look new again and again.
		if _, age, _ := s.Get("known"); age != time.Minute {
			t.Errorf("it is %v old now", age)
		}
		Do(t.Context(), l, "known", func(context.Context) (float64, error) { return 0.7, nil })
		if v, said, _ := Do(t.Context(), l, "known", down); v != 0.7 || said.Age != 0 {
			t.Error(v, said)
		}
		// It is too old, and the next rung answers.
		time.Sleep(2 * time.Hour)
		if v, said, _ := Do(t.Context(), l, "known", down); v != 0.5 || said.Rung != "default" {
			t.Error(v, said)
		}
	})
}

// The dependency hangs until its caller gives up. The answer is there before the
// deadline, by what is kept back.
func TestTheStandInIsThereBeforeTheDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, _ := rig(t)
		hang := func(ctx context.Context) (float64, error) { <-ctx.Done(); return 0, ctx.Err() }
		for _, c := range []struct{ deadline, answered time.Duration }{
			{25 * time.Millisecond, 23 * time.Millisecond},
			{2 * time.Millisecond, time.Millisecond}, // at most half is kept back
		} {
			began := time.Now()
			ctx, cancel := context.WithTimeout(t.Context(), c.deadline)
			v, said, err := Do(ctx, l, "known", hang)
			if took := time.Since(began); took != c.answered || ctx.Err() != nil || v != 0.9 || said.Reason != reason.Timeout || err != nil {
				t.Errorf("of %v it took %v, context %v: %v %+v %v", c.deadline, took, ctx.Err(), v, said, err)
			}
			cancel()
		}
	})
}

func TestACallerWhoHasGoneGetsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, _ := rig(t)
		ctx, cancel := context.WithCancel(t.Context())
		_, said, err := Do(ctx, l, "known", func(ctx context.Context) (float64, error) { cancel(); return 0, ctx.Err() })
		if said.Reason != reason.CallerGone || !errors.Is(err, context.Canceled) {
			t.Error(said, err)
		}
	})
}

func TestAComputedRung(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		asked := 0
		l, err := NewLadder(LadderOptions{Reserve: -1},
			Computed("cheap", 8*time.Millisecond, func(_ context.Context, key string) (string, error) {
				if asked++; key == "odd" {
					return "", ErrNothing
				}
				return "cheap " + key, nil
			}),
			Default("plain"))
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range []struct {
			name, key string
			left      time.Duration
			want      string
			asked     int
		}{
			{"it is asked", "even", time.Second, "cheap even", 1},
			{"it has nothing", "odd", time.Second, "plain", 1},
			{"there is no time for it", "even", 7 * time.Millisecond, "plain", 0},
		} {
			asked = 0
			ctx, cancel := context.WithTimeout(t.Context(), c.left)
			v, _, err := l.Instead(ctx, c.key, reason.ShedForLoad)
			if cancel(); v != c.want || asked != c.asked || err != nil {
				t.Errorf("%s: %q after %d asked, %v", c.name, v, asked, err)
			}
		}
	})
}

func TestDoAllocatesNothingWithoutADeadline(t *testing.T) {
	s := New(Options[int]{})
	l, err := NewLadder(LadderOptions{}, LastKnown(s), Default(1))
	if err != nil {
		t.Fatal(err)
	}
	ctx := context.Background()
	primary := func(context.Context) (int, error) { return 2, nil }
	Do(ctx, l, "k", primary)
	if n := testing.AllocsPerRun(100, func() { Do(ctx, l, "k", primary) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// However many ask at once, a computed rung with a pool of its own never works for more
// than it has slots; those beyond have the next, and nobody has none.
func TestAComputedRungIsNeverOfferedMoreThanItCanDo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		small, err := gate.New(gate.Config{Classes: []gate.Class{{Name: "score", Pool: gate.Pool{Slots: 3, Latency: time.Millisecond, Service: time.Millisecond}}}})
		if err != nil {
			t.Fatal(err)
		}
		defer small.Close()
		var at, most, answered atomic.Int64
		l, err := NewLadder(LadderOptions{}, Computed("small", 0, func(ctx context.Context, _ string) (v float64, err error) {
			return v, small.Do(ctx, gate.Request{}, func(context.Context) error {
				most.Store(max(most.Load(), at.Add(1)))
				time.Sleep(time.Second)
				at.Add(-1)
				v = 0.4
				return nil
			})
		}), Default(0.5))
		if err != nil {
			t.Fatal(err)
		}
		var all sync.WaitGroup
		for range 50 {
			all.Go(func() {
				v, said, err := Do(t.Context(), l, "k", func(context.Context) (float64, error) { return 0, errors.New("down") })
				switch {
				case err != nil || said.Reason != reason.Failed || said.Rung == "small" != (v == 0.4):
					t.Errorf("%v, %+v, %v", v, said, err)
				case said.Rung == "small":
					answered.Add(1)
				}
			})
			synctest.Wait()
		}
		all.Wait()
		if most.Load() != 3 || answered.Load() != 3 || small.States()[0].Tally.Offered != 50 {
			t.Errorf("%d at once, %d answered, %+v", most.Load(), answered.Load(), small.States()[0].Tally)
		}
	})
}
