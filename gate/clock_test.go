package gate

import (
	"context"
	"testing"
	"time"
	"unsafe"

	"github.com/spillway-dev/spillway/policy/boundary"
	"github.com/spillway-dev/spillway/policy/rate"
	"github.com/spillway-dev/spillway/policy/reason"
)

// The wall clock steps by eight hours, forward or back, after the gate was made:
// nothing of the gate's notices. The step is made in the gate's own epoch, whose
// wall reading is then as far off as it would be. Time in a bubble has no
// monotonic reading, so this is in real time, with bounds of minutes.
func TestWallClockSteps(t *testing.T) {
	const eight = 8 * 60 * 60
	for name, step := range map[string]int64{"none": 0, "forward": -eight, "back": eight} {
		t.Run(name, func(t *testing.T) {
			g, err := New(Config{Strict: true, Clients: rate.Rule{Burst: 5, Interval: time.Hour}, ClientsKept: 16, Classes: []Class{{Name: "checkout", Pool: Pool{Slots: 1, Bound: 1}, DeadlineMax: 24 * time.Hour}}})
			if err != nil {
				t.Fatal(err)
			}
			defer g.Close()
			before := g.epoch
			stepWall(&g.epoch, step)
			if got := g.epoch.Round(0).Sub(before.Round(0)); got != time.Duration(step)*time.Second || g.epoch.Sub(before) != 0 {
				t.Fatalf("the test moved the wall clock by %v and the monotonic one by %v", got, g.epoch.Sub(before))
			}
			deadlines := map[string]time.Time{
				"with a monotonic reading": time.Now().Add(time.Hour),
				"by the wall clock alone":  time.Now().Add(time.Hour).Round(0),
			}
			for name, d := range deadlines {
				ctx, cancel := context.WithDeadline(context.Background(), d)
				p, refused := g.Enter(ctx, Request{})
				if refused.Reason != reason.None {
					t.Fatalf("%s: %v", name, &refused)
				}
				for _, left := range []time.Duration{p.Remaining(), time.Until(p.Deadline())} {
					if left.Round(10*time.Minute) != time.Hour {
						t.Errorf("%s: due in %v, want an hour", name, left)
					}
				}
				p.Done()
				cancel()
			}
			p, _ := g.Enter(context.Background(), Request{})
			if _, refused := g.Enter(context.Background(), Request{Timeout: time.Millisecond}); refused.Reason != reason.Expired {
				t.Errorf("told %v", refused.Reason)
			}
			p.Done()
			// What holds for a time neither is over at once nor lasts for ever.
			g.Operate(0, boundary.RefuseAll, time.Hour)
			if left := g.States()[0].OperatorLeft; left.Round(10*time.Minute) != time.Hour {
				t.Errorf("switched by hand for another %v, want an hour", left)
			}
			g.Operate(0, boundary.AsConfigured, 0)
			for i := range 20 { // a bucket is neither refilled nor frozen
				p, refused := g.Enter(context.Background(), Request{Client: 7})
				if served := refused.Reason == reason.None; served != (i < 5) {
					t.Errorf("request %d of a client with a burst of 5: %v", i, refused.Reason)
				}
				p.Done()
			}
		})
	}
}

// stepWall moves the wall reading of a time that has a monotonic one as well,
// which package time keeps as seconds above 30 bits of nanoseconds.
func stepWall(t *time.Time, seconds int64) {
	wall := (*uint64)(unsafe.Pointer(t))
	*wall += uint64(seconds << 30)
}
