package plan_test

import (
	"math"
	"math/big"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/spillway-dev/spillway/policy/plan"
)

func TestBound(t *testing.T) {
	const kib, mib = 1 << 10, 1 << 20
	most := int64(math.MaxInt64)
	for _, tt := range []struct {
		name string
		in   plan.BoundInput
		n    int
		from plan.BoundFrom
	}{
		{"200 ms at 400/s", plan.BoundInput{AllowedWait: 200 * ms, Slots: 40, Holding: 100 * ms}, 80, plan.FromLatencyBudget},
		{"cut to memory", plan.BoundInput{AllowedWait: 200 * ms, Slots: 40, Holding: 100 * ms, MemoryLimit: 2 * mib, PerRequest: 64 * kib}, 32, plan.FromMemory},
		{"memory that just suffices is not blamed", plan.BoundInput{AllowedWait: 200 * ms, Slots: 40, Holding: 100 * ms, MemoryLimit: 5 * mib, PerRequest: 64 * kib}, 80, plan.FromLatencyBudget},
		{"rounded down", plan.BoundInput{AllowedWait: 199 * ms, Slots: 40, Holding: 100 * ms}, 79, plan.FromLatencyBudget},
		{"no wait allowed", plan.BoundInput{Slots: 40, Holding: 100 * ms}, 0, plan.FromLatencyBudget},
		{"negative wait", plan.BoundInput{AllowedWait: -1, Slots: 40, Holding: 100 * ms}, 0, plan.FromLatencyBudget},
		{"less than one fits", plan.BoundInput{AllowedWait: 10 * ms, Slots: 1, Holding: time.Second}, 1, plan.FromMinimum},
		{"no slots yet", plan.BoundInput{AllowedWait: time.Second, Holding: time.Second}, 1, plan.FromMinimum},
		{"memory below one request", plan.BoundInput{AllowedWait: time.Second, Slots: 5, Holding: time.Second, MemoryLimit: 1, PerRequest: 2}, 1, plan.FromMinimum},
		{"not measured yet: memory alone", plan.BoundInput{AllowedWait: time.Second, Slots: 5, MemoryLimit: 64 * mib, PerRequest: 64 * kib}, 1024, plan.FromMemory},
		{"not measured, no memory limit", plan.BoundInput{AllowedWait: time.Second, Slots: 5}, plan.MaxBound, plan.FromMaximum},
		{"configured", plan.BoundInput{AllowedWait: 200 * ms, Slots: 40, Holding: 100 * ms, Configured: 12}, 12, plan.FromConfigured},
		{"configured while slots are held at 0", plan.BoundInput{Configured: 36}, 36, plan.FromConfigured},
		{"configured, cut to memory", plan.BoundInput{Configured: 1000, MemoryLimit: 2 * mib, PerRequest: 64 * kib}, 32, plan.FromMemory},
		{"configured, absurd", plan.BoundInput{Configured: most}, plan.MaxBound, plan.FromMaximum},
		{"everything at its most", plan.BoundInput{AllowedWait: time.Duration(most), Slots: most, Holding: time.Duration(most), MemoryLimit: most, PerRequest: 1}, plan.MaxBound, plan.FromMaximum},
		{"a quotient beyond 64 bits", plan.BoundInput{AllowedWait: time.Duration(most), Slots: most, Holding: 1, MemoryLimit: 100, PerRequest: 1}, 100, plan.FromMemory},
		{"a quotient of exactly 2^64", plan.BoundInput{AllowedWait: 1 << 62, Slots: 20, Holding: 5}, plan.MaxBound, plan.FromMaximum},
		{"a quotient of exactly 2^63", plan.BoundInput{AllowedWait: 1 << 62, Slots: 2, Holding: 1}, plan.MaxBound, plan.FromMaximum},
		{"everything at its least", plan.BoundInput{AllowedWait: math.MinInt64, Slots: math.MinInt64, Holding: math.MinInt64, MemoryLimit: math.MinInt64, PerRequest: math.MinInt64, Configured: math.MinInt64}, 0, plan.FromLatencyBudget},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if n, from := plan.Bound(tt.in); n != tt.n || from != tt.from {
				t.Errorf("%d from %v, want %d from %v", n, from, tt.n, tt.from)
			}
		})
	}
}

// anyInt64 draws ends, small and arbitrary numbers about equally often.
func anyInt64(t *rapid.T, name string) int64 {
	return rapid.OneOf(
		rapid.SampledFrom([]int64{math.MinInt64, -1, 0, 1, 2, math.MaxInt64 - 1, math.MaxInt64}),
		rapid.Int64Range(0, 10_000),
		rapid.Int64(),
	).Draw(t, name)
}

func anyBoundInput(t *rapid.T) plan.BoundInput {
	return plan.BoundInput{
		AllowedWait: time.Duration(anyInt64(t, "allowed wait")),
		Slots:       anyInt64(t, "slots"),
		Holding:     time.Duration(anyInt64(t, "holding")),
		MemoryLimit: anyInt64(t, "memory limit"),
		PerRequest:  anyInt64(t, "per request"),
		Configured:  rapid.OneOf(rapid.Just(int64(0)), rapid.Just(anyInt64(t, "configured if any"))).Draw(t, "configured"),
	}
}

// Whatever it is given, the bound keeps its promises: computed again here with
// unlimited integers, so that an overflow would show.
func TestBoundIsRight(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := anyBoundInput(t)
		n, from := plan.Bound(in)
		if n < 0 || n > plan.MaxBound {
			t.Fatalf("%d is out of range", n)
		}
		if nobody := in.AllowedWait <= 0 && in.Configured <= 0; (n == 0) != nobody {
			t.Fatalf("bound %d with an allowed wait of %v", n, in.AllowedWait)
		}
		if n == 0 {
			return
		}
		fitsMemory := func(n int) bool {
			return in.MemoryLimit <= 0 || in.PerRequest <= 0 ||
				new(big.Int).Mul(big.NewInt(int64(n)), big.NewInt(in.PerRequest)).Cmp(big.NewInt(in.MemoryLimit)) <= 0
		}
		inTime := func(n int) bool {
			if in.Configured > 0 {
				return int64(n) <= in.Configured
			}
			if in.Slots <= 0 {
				return n == 0
			}
			if in.Holding <= 0 {
				return true
			}
			need := new(big.Int).Mul(big.NewInt(int64(n)), big.NewInt(int64(in.Holding)))
			have := new(big.Int).Mul(big.NewInt(int64(in.AllowedWait)), big.NewInt(in.Slots))
			return need.Cmp(have) <= 0
		}
		switch from {
		case plan.FromMinimum:
			if n != 1 || (inTime(1) && fitsMemory(1)) {
				t.Fatalf("minimum of %d without need", n)
			}
			return
		case plan.FromMemory:
			if fitsMemory(n+1) || !inTime(n+1) {
				t.Fatalf("memory is blamed for %d, yet one more fits or would be late", n)
			}
		case plan.FromLatencyBudget, plan.FromConfigured:
			if inTime(n + 1) {
				t.Fatalf("one more than %d would be in time", n)
			}
			if (from == plan.FromConfigured) != (in.Configured > 0) {
				t.Fatalf("%v with %d configured", from, in.Configured)
			}
		case plan.FromMaximum:
			if n != plan.MaxBound || !inTime(n+1) || !fitsMemory(n+1) {
				t.Fatalf("maximum of %d without need", n)
			}
		}
		if !inTime(n) || !fitsMemory(n) {
			t.Fatalf("%d from %v is too many", n, from)
		}
	})
}

func TestBoundIsMonotone(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		less := anyBoundInput(t)
		// Memory that is given stays given: not giving it is no limit at all.
		less.MemoryLimit, less.PerRequest = max(1, less.MemoryLimit), max(1, less.PerRequest)
		more := less
		upwards := func(v int64, name string) int64 { return max(v, anyInt64(t, name)) }
		switch rapid.SampledFrom([]string{"wait", "slots", "memory", "holding", "per request", "configured"}).Draw(t, "moved") {
		case "wait":
			more.AllowedWait = time.Duration(upwards(int64(less.AllowedWait), "longer wait"))
		case "slots":
			more.Slots = upwards(less.Slots, "more slots")
		case "memory":
			more.MemoryLimit = upwards(less.MemoryLimit, "more memory")
		case "holding":
			less.Holding = time.Duration(upwards(int64(more.Holding), "longer holding"))
		case "per request":
			less.PerRequest = upwards(more.PerRequest, "larger request")
		case "configured":
			less.Configured = max(1, less.Configured)
			more.Configured = upwards(less.Configured, "higher configured")
		}
		a, _ := plan.Bound(less)
		b, _ := plan.Bound(more)
		if a > b {
			t.Fatalf("the bound fell from %d to %d:\n%+v\n%+v", a, b, less, more)
		}
	})
}

func TestBoundDoesNotAllocate(t *testing.T) {
	in := plan.BoundInput{AllowedWait: 200 * ms, Slots: 40, Holding: 100 * ms, MemoryLimit: 64 << 20, PerRequest: 64 << 10}
	if allocs := testing.AllocsPerRun(100, func() {
		n, _ := plan.Bound(in)
		in.Slots = 40 + int64(n&1)
	}); allocs != 0 {
		t.Errorf("%v allocations", allocs)
	}
}

func TestAllowedWait(t *testing.T) {
	for _, tt := range []struct{ latency, service, want time.Duration }{
		{300 * ms, 100 * ms, 200 * ms},
		{100 * ms, 100 * ms, 0},
		{100 * ms, 300 * ms, 0},
		{100 * ms, -300 * ms, 100 * ms},
		{-1, -5, 0},
		{math.MaxInt64, math.MinInt64, math.MaxInt64},
		{math.MinInt64, math.MaxInt64, 0},
	} {
		if got := plan.AllowedWait(tt.latency, tt.service); got != tt.want {
			t.Errorf("AllowedWait(%v, %v) = %v, want %v", tt.latency, tt.service, got, tt.want)
		}
	}
}

func BenchmarkBound(b *testing.B) {
	in := plan.BoundInput{AllowedWait: 200 * ms, Slots: 40, Holding: 100 * ms, MemoryLimit: 64 << 20, PerRequest: 64 << 10}
	b.ReportAllocs()
	for b.Loop() {
		n, _ := plan.Bound(in)
		in.Slots = 40 + int64(n&1)
	}
}
