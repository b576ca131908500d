package live_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/spillway-dev/spillway/lab/fallback/live"
	"github.com/spillway-dev/spillway/policy/call"
	"github.com/spillway-dev/spillway/policy/reason"
	"github.com/spillway-dev/spillway/policy/unit"
	"github.com/spillway-dev/spillway/sim/store"
)

// asPart makes the test binary be a part, dies has it killed soon after.
const (
	asPart = "SPILLWAY_TEST_AS_PART"
	dies   = "SPILLWAY_TEST_DIES"
)

func TestMain(m *testing.M) {
	if name := os.Getenv(asPart); name != "" {
		if os.Getenv(dies) != "" {
			time.AfterFunc(400*ms, func() { _ = syscall.Kill(os.Getpid(), syscall.SIGKILL) })
		}
		if err := live.Part(name, os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	goleak.VerifyTestMain(m)
}

const ms = time.Millisecond

// started remembers the processes of a bench.
type started struct{ all map[string]*exec.Cmd }

func (s *started) bench() *live.Bench {
	s.all = map[string]*exec.Cmd{}
	return live.NewBench(s.make)
}

func (s *started) make(part string) *exec.Cmd {
	c := exec.Command(os.Args[0])
	c.Env = append(os.Environ(), asPart+"="+part)
	s.all[part] = c
	return c
}

// none reports an error for every process that has not ended.
func (s *started) none(t *testing.T) {
	t.Helper()
	for part, c := range s.all {
		if c.ProcessState == nil {
			t.Errorf("the %s's process is still there", part)
		}
	}
}

func short(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("-short: it starts processes and takes seconds")
	}
}

// round is two seconds of a service that asks again beside and after a slow lookup.
func round() live.Round {
	return live.Round{
		Seed: 1, Waits: "H", Rate: 150, For: 2 * time.Second, Senders: 64, Slots: 16, Rest: 1900 * time.Microsecond, StandIns: true,
		Policy: call.Policy{Timeout: 25 * ms, Retries: 1, Budget: call.Budget{Off: true}, Hedge: call.Hedge{After: 10 * ms, Budget: call.Budget{Off: true}}},
	}
}

// A round tells of every request and lookup what one in virtual time does, with the same
// dice, and in an order in which it can have happened.
func TestARound(t *testing.T) {
	short(t)
	var s started
	r := round()
	var requests []store.Request
	lookups := map[int64][]store.Lookup{}
	sums, f, err := s.bench().Play(t.Context(), r, store.Watch{
		Request: func(q *store.Request) { requests = append(requests, *q) },
		Lookup:  func(l *store.Lookup) { lookups[l.N] = append(lookups[l.N], *l) },
	})
	if err != nil {
		t.Fatal(err)
	}
	s.none(t)
	draws := store.NewDraws(r.Seed, r.Number, store.Freezing, 0)
	arrivals := draws.Arrivals(r.Rate, r.For)
	made := 0
	for _, all := range lookups {
		made += len(all)
	}
	if sums.Requests != int64(len(requests)) || sums.Lookups != int64(made) {
		t.Errorf("sums %+v; %d requests, %d lookups", sums, len(requests), made)
	}
	if len(requests) != len(arrivals) || f.Checked != len(arrivals) {
		t.Fatalf("%d requests and %d answers checked, the dice have %d arrivals", len(requests), f.Checked, len(arrivals))
	}
	seen := map[int64]bool{}
	for _, q := range requests {
		if seen[q.N] || q.Scheduled != unit.Instant(arrivals[q.N]) {
			t.Errorf("request %d, again %v, at %v; it is due at %v", q.N, seen[q.N], q.Scheduled, arrivals[q.N])
		}
		seen[q.N] = true
		if !(q.Scheduled <= q.Begun && q.Begun <= q.Decided && q.Decided < q.Answered) {
			t.Errorf("out of order: %+v", q)
		}
		if q.Attempts != len(lookups[q.N]) || q.Attempts < 1 {
			t.Errorf("request %d made %d attempts, the store had %d", q.N, q.Attempts, len(lookups[q.N]))
		}
		used := 0
		for _, l := range lookups[q.N] {
			wait, frozen := draws.Wait(q.N, l.Attempt)
			if l.Drawn != wait || l.Frozen != frozen || l.Ended.Sub(l.Begun) < wait || l.Sent > l.Begun {
				t.Errorf("lookup %+v: its wait is %v", l, wait)
			}
			if l.Fate == store.Used {
				used++
			}
		}
		if (used == 1) != (q.Reason == reason.Served) {
			t.Errorf("request %d ended as %v, %d lookups used", q.N, q.Reason, used)
		}
	}
}

// The store stops at a limit that came along, holding or waiting for a slot; a deadline
// counts from when a request was due.
func TestALimitThatGoesAlong(t *testing.T) {
	short(t)
	var s started
	r := round()
	r.Travels, r.Slots, r.Deadline, r.Rate = true, 1, 80*ms, 400 // more than one slot can do
	r.Policy = call.Policy{Reserve: 10 * ms}
	stopped, never, stoodIn := 0, 0, 0
	sums, _, err := s.bench().Play(t.Context(), r, store.Watch{
		Request: func(q *store.Request) {
			if q.Reason != reason.Served {
				stoodIn++
			}
			if q.Deadline != q.Scheduled.Add(r.Deadline) {
				t.Errorf("deadline %v of %v", q.Deadline, q.Scheduled)
			}
		},
		Lookup: func(l *store.Lookup) {
			if l.Limit > l.Sent.Add(r.Deadline) {
				t.Errorf("limit beyond the deadline: %+v", l)
			}
			if l.Fate == store.Stopped {
				stopped++
				if l.Begun < 0 {
					never++
				}
			}
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	if sums.MaxWaiting == 0 {
		t.Error("nobody was in line")
	}
	if stopped == 0 || never == 0 || stoodIn < stopped {
		t.Errorf("%d stopped, %d of them in line, %d stand-ins", stopped, never, stoodIn)
	}
}

func TestCapacity(t *testing.T) {
	short(t)
	var s started
	n, err := s.bench().Capacity(t.Context(), round())
	if err != nil || n <= 0 {
		t.Fatal(n, err)
	}
	s.none(t)
}

// Whoever stops the round, or kills a part, leaves no process behind.
func TestNoProcessIsLeft(t *testing.T) {
	short(t)
	r := round()
	r.For = time.Minute
	t.Run("stopped", func(t *testing.T) {
		var s started
		ctx, stop := context.WithCancel(t.Context())
		s.bench()
		b := live.NewBench(func(part string) *exec.Cmd {
			if part == live.Tester {
				time.AfterFunc(400*ms, stop)
			}
			return s.make(part)
		})
		if _, _, err := b.Play(ctx, r, store.Watch{}); !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
		s.none(t)
	})
	for _, victim := range []string{live.Tester, live.Service, live.Store} {
		t.Run(victim+" killed", func(t *testing.T) {
			var s started
			s.bench()
			b := live.NewBench(func(part string) *exec.Cmd {
				c := s.make(part)
				if part == victim {
					c.Env = append(c.Env, dies+"=1")
				}
				return c
			})
			if _, _, err := b.Play(t.Context(), r, store.Watch{}); err == nil || !strings.Contains(err.Error(), "ended early") {
				t.Error(err)
			}
			s.none(t)
		})
	}
}

// A part ends when whoever started it has gone.
func TestAnOrphanEnds(t *testing.T) {
	short(t)
	c := exec.Command(os.Args[0])
	c.Env = append(os.Environ(), asPart+"="+live.Store)
	in, err := c.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	_ = in.Close()
	err = c.Wait()
	if state, ok := errors.AsType[*exec.ExitError](err); !ok || state.Sys().(syscall.WaitStatus).Signaled() {
		t.Error(err)
	}
}

func TestRoundsThatCannotBePlayed(t *testing.T) {
	for name, change := range map[string]func(*live.Round){
		"waits":   func(r *live.Round) { r.Waits = "Q" },
		"rate":    func(r *live.Round) { r.Rate = 0 },
		"length":  func(r *live.Round) { r.For = 0 },
		"size":    func(r *live.Round) { r.Rate, r.For = 1e5, time.Minute },
		"senders": func(r *live.Round) { r.Senders = 0 },
		"slots":   func(r *live.Round) { r.Slots = 1 << 20 },
		"policy":  func(r *live.Round) { r.Policy.Retries = -1 },
	} {
		r := round()
		change(&r)
		var s started
		if _, _, err := s.bench().Play(t.Context(), r, store.Watch{}); err == nil {
			t.Errorf("%s: it is played", name)
		}
		if len(s.all) > 0 {
			t.Errorf("%s: %d processes started", name, len(s.all))
		}
	}
}
