package gate_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/spillway-dev/spillway/gate"
	"github.com/spillway-dev/spillway/policy/pool"
	"github.com/spillway-dev/spillway/policy/reason"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// bubble runs f in virtual time: instants are exact, and time passes only when
// everybody waits.
func bubble(t *testing.T, f func(t *testing.T)) {
	t.Helper()
	synctest.Test(t, f)
}

// open returns a gate of the given classes whose accounts must close, and which
// must be empty, when the test ends. A bug panics where it is met.
func open(t *testing.T, classes ...gate.Class) *gate.Gate {
	t.Helper()
	return openWith(t, gate.Config{Classes: classes, Strict: true})
}

func openWith(t *testing.T, cfg gate.Config, opts ...gate.Option) *gate.Gate {
	t.Helper()
	g, err := gate.New(cfg, opts...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		check(t, g)
		for _, s := range g.States() {
			if s.Used+s.Waiting+s.Blocked != 0 {
				t.Errorf("class %s is not empty at the end: %d slots used, %d wait, %d blocked", s.Name, s.Used, s.Waiting, s.Blocked)
			}
		}
		g.Close()
	})
	return g
}

func check(t *testing.T, g *gate.Gate) {
	t.Helper()
	if err := g.Check(); err != nil {
		t.Error(err)
	}
}

// class is a class with so many slots and places to wait. What is measured
// refuses nobody: that is the boundary's affair and tested there.
func class(slots, room int) gate.Class {
	p := gate.Pool{Slots: slots, Bound: room, Order: pool.FIFO}
	if room == 0 {
		p.Latency, p.Service = time.Millisecond, time.Millisecond // no time to wait
	}
	return gate.Class{Name: "checkout", Pool: p, AdmitHopeless: true}
}

// admit enters a request that must be admitted.
func admit(t *testing.T, g *gate.Gate, r gate.Request) gate.Permit {
	t.Helper()
	p, refused := g.Enter(context.Background(), r)
	if refused.Reason != reason.None {
		t.Fatalf("refused: %v", &refused)
	}
	return p
}

// answer is how an Enter in the background ended.
type answer struct {
	permit gate.Permit
	why    reason.Reason
	after  time.Duration
}

// enter enters a request in the background and lets it come to rest. The
// answer is there when the request is decided.
func enter(ctx context.Context, g *gate.Gate, r gate.Request) <-chan answer {
	decided := make(chan answer, 1)
	start := g.Now()
	go func() {
		p, refused := g.Enter(ctx, r)
		decided <- answer{p, refused.Reason, g.Now().Sub(start)}
	}()
	synctest.Wait()
	return decided
}

// waits fails unless the request waits still.
func waits(t *testing.T, decided <-chan answer) {
	t.Helper()
	synctest.Wait()
	select {
	case a := <-decided:
		t.Fatalf("should wait, but was decided: %+v", a)
	default:
	}
}

// isDecided returns the answer, which must be there.
func isDecided(t *testing.T, decided <-chan answer) answer {
	t.Helper()
	synctest.Wait()
	select {
	case a := <-decided:
		return a
	default:
		t.Fatal("should be decided, but waits")
		return answer{}
	}
}

// waiting returns how many of the first class wait.
func waiting(g *gate.Gate) int { return g.States()[0].Waiting }
