package decisions

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/spillway-dev/spillway/policy/boundary"
	"github.com/spillway-dev/spillway/policy/limit"
	"github.com/spillway-dev/spillway/policy/plan"
	"github.com/spillway-dev/spillway/policy/reason"
)

var rewrite = flag.Bool("rewrite", false, "write testdata anew")

// What is told of typical decisions, as it is in testdata/text.txt.
func TestText(t *testing.T) {
	base := boundary.Case{
		Tenant: "acme", Used: 40, Slots: 40, Most: 40, AllUsed: 48, AllSlots: 48,
		Waiting: 80, Bound: 80, BoundFrom: plan.FromLatencyBudget, RoomBytes: 5 << 20, RoomBytesMax: 64 << 20, Bytes: 64 << 10,
		TenantWaiting: 12, TenantWeight: 1,
		Left: 300 * time.Millisecond, DeadlineMax: time.Second, Predicted: 30 * time.Millisecond, Needed: 102 * time.Millisecond,
		RetryAfter: 1234 * time.Millisecond,
	}
	var b strings.Builder
	for _, change := range []func(*boundary.Case){
		func(x *boundary.Case) {
			x.Reason, x.Room = reason.QueueFull, reason.QueueFull
			x.Instead = boundary.Instead{Slots: 41, Bound: 81}
		},
		func(x *boundary.Case) {
			x.Reason, x.Room, x.Most = reason.QueueFull, reason.QueueFull, 400
			x.Limit = limit.State{Law: limit.Knee, Limit: 48, Baseline: 100 * time.Millisecond, Latency: 1.02, Doing: "steady"}
			x.Instead = boundary.Instead{Floor: 41, Bound: 81}
		},
		func(x *boundary.Case) {
			x.Reason, x.Room, x.TenantMost = reason.TenantFull, reason.TenantFull, 12
			x.Instead = boundary.Instead{TenantQueue: 13, Bound: 87, Weight: 2}
		},
		func(x *boundary.Case) {
			x.Reason, x.Left, x.Shadow = reason.Infeasible, 50*time.Millisecond, true
			x.Instead = boundary.Instead{Deadline: 1200 * time.Millisecond}
		},
		func(x *boundary.Case) {
			x.Reason, x.Room, x.Retry, x.Waiting = reason.Dropped, reason.QueueFull, true, 80
		},
		func(x *boundary.Case) {
			x.Reason, x.Stage, x.Left, x.Waited = reason.Expired, boundary.InRoom, 10*time.Millisecond, 290*time.Millisecond
			x.Instead = boundary.Instead{Deadline: 392 * time.Millisecond}
		},
		func(x *boundary.Case) {
			x.Reason, x.Stage, x.Waited, x.Held = reason.Timeout, boundary.Running, 30*time.Millisecond, 270*time.Millisecond
		},
		func(x *boundary.Case) { x.Reason = reason.RateLimited },
		func(x *boundary.Case) { *x = boundary.Case{Reason: reason.Failed, Tenant: "\x1b[31mred"} },
	} {
		x := base
		change(&x)
		l := New(1)
		l.Add("app", "checkout", "2a7slr16u47ix", &x)
		d := l.Find(Query{})[0]
		d.Time = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
		b.WriteString(d.Text() + "\n")
	}
	got := b.String()
	for _, line := range strings.Split(got, "\n") {
		if utf8.RuneCountInString(line) > 110 || strings.ContainsRune(line, '\x1b') {
			t.Errorf("too wide, or not fit for a terminal: %q", line)
		}
	}
	file := filepath.Join("testdata", "text.txt")
	if *rewrite {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if want, err := os.ReadFile(file); err != nil || string(want) != got {
		t.Errorf("%v; run with -rewrite and look at the difference. Now:\n%s", err, got)
	}
}

// What is said to be enough is, in three digits.
func TestEnough(t *testing.T) {
	for _, c := range [][2]float64{{100, 100}, {135.449, 136}, {135.971, 136}, {1234, 1240}, {0.0011, 0.0011}, {999.4, 1000}} {
		if got := enough(c[0]); got < c[0] || got != c[1] {
			t.Errorf("%v is rounded up to %v, want %v", c[0], got, c[1])
		}
	}
}
