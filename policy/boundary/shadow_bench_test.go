package boundary

import (
	"testing"

	"github.com/spillway-dev/spillway/policy/pool"
	"github.com/spillway-dev/spillway/policy/reason"
	"github.com/spillway-dev/spillway/policy/unit"
)

// What a request that runs costs in each mode, offer and end.
func BenchmarkModes(b *testing.B) {
	for kind := Enforce; kind <= Off; kind++ {
		b.Run(kind.String(), func(b *testing.B) {
			m := newCheckout(40, pool.TenantConfig{})
			cfg := Config{Strict: true, Classes: []Class{m.classes[0].Class}}
			cfg.Classes[0].Mode = Mode{Kind: kind, Share: 100_000}
			var out Effects
			if err := m.Reconfigure(0, cfg, &out); err != nil {
				b.Fatal(err)
			}
			now := unit.Instant(0)
			b.ReportAllocs()
			for b.Loop() {
				now += 1000
				v := m.Offer(now, &Request{Session: uint64(now)}, &out)
				m.Done(now, v.Ticket, Outcome{Reason: reason.Served}, &out)
			}
		})
	}
}
