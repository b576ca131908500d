package decision

import (
	"fmt"
	"testing"
	"time"

	"github.com/spillway-dev/spillway/policy/boundary"
	"github.com/spillway-dev/spillway/policy/fair"
	"github.com/spillway-dev/spillway/policy/pool"
	"github.com/spillway-dev/spillway/policy/reason"
	"github.com/spillway-dev/spillway/policy/unit"
)

// knowing is a machine that has met so many tenants and remembers as many idle
// ones as keep says; 0: as many as it does unless told otherwise.
func knowing(b *testing.B, names []string, keep int) *boundary.Machine {
	b.Helper()
	m, err := boundary.New(boundary.Config{Name: "app", Classes: []boundary.Class{{
		Name: "checkout",
		Pool: pool.Config{Slots: slots, Latency: 300 * time.Millisecond, Service: 100 * time.Millisecond,
			MemoryLimit: 64 << 20, PerRequest: 64 << 10,
			Tenants: pool.TenantConfig{Policy: fair.WRR, Keep: keep}},
	}}})
	if err != nil {
		b.Fatal(err)
	}
	var out boundary.Effects
	for _, name := range names {
		v := m.Offer(0, &boundary.Request{Tenant: name}, &out)
		m.Done(0, v.Ticket, boundary.Outcome{Reason: reason.Served}, &out)
	}
	if got := m.Class(0).Tenants; got < min(keep, len(names)) {
		b.Fatalf("%d tenants remembered of %d", got, len(names))
	}
	return m
}

// drive offers one request of each of the given tenants in turn.
func drive(b *testing.B, m *boundary.Machine, active []string) {
	var out boundary.Effects
	now, i := unit.Instant(0), 0
	b.ReportAllocs()
	for b.Loop() {
		now += 1000
		if i++; i == len(active) {
			i = 0
		}
		v := m.Offer(now, &boundary.Request{Tenant: active[i]}, &out)
		if v.Kind != boundary.Run {
			b.Fatal(v)
		}
		m.Done(now+100, v.Ticket, boundary.Outcome{Reason: reason.Served}, &out)
	}
}

// BenchmarkKnown has the same 1,000 tenants active when 10 to 1,000,000 have
// been met. Memory follows the active ones: the others were forgotten, with
// their counts kept in one account. With 10 met, those 10 are active.
func BenchmarkKnown(b *testing.B) {
	for _, known := range []int{10, activeTenants, 100_000, 1_000_000} {
		b.Run(fmt.Sprint(known), func(b *testing.B) {
			names := tenantNames(known)
			m := knowing(b, names, 0)
			b.ResetTimer()
			drive(b, m, names[:min(known, activeTenants)])
		})
	}
}

// BenchmarkRemembered is the same with a million idle tenants remembered, which
// somebody has asked for: what the processor's caches cannot hold is paid for.
func BenchmarkRemembered(b *testing.B) {
	const known = 1_000_000
	names := tenantNames(known)
	m := knowing(b, names, known)
	b.ResetTimer()
	drive(b, m, names[:activeTenants])
}

// BenchmarkSpread has every thousandth of a million tenants active: no two of
// them share a page of memory, so that what the processor's caches of pages
// hold comes into it too.
func BenchmarkSpread(b *testing.B) {
	const known = 1_000_000
	names := tenantNames(known)
	m := knowing(b, names, known)
	active := make([]string, activeTenants)
	for i := range active {
		active[i] = names[i*known/activeTenants]
	}
	b.ResetTimer()
	drive(b, m, active)
}

// BenchmarkUniform has a million tenants active alike: every request meets one
// that the processor's caches have long forgotten.
func BenchmarkUniform(b *testing.B) {
	const known = 1_000_000
	names := tenantNames(known)
	m := knowing(b, names, known)
	// A fixed walk that visits all of them in no order that a cache could learn.
	order := make([]string, known)
	for i, at := 0, 0; i < known; i++ {
		order[i] = names[at]
		at = (at + 618_033) % known // coprime to a million
	}
	b.ResetTimer()
	drive(b, m, order)
}
