package decision

import (
	"testing"
	"time"

	"github.com/spillway-dev/spillway/policy/quota"
	"github.com/spillway-dev/spillway/policy/unit"
)

// BenchmarkLease is a call's verdict from leases of three budgets: the provider's
// requests and tokens, and its tenant's requests. A lease is filled again whenever it is
// spent by half, as an answer of the ledger does it.
func BenchmarkLease(b *testing.B) {
	limits := []quota.Limit{
		{Unit: quota.Requests, Most: 1_000_000, Refill: 1_000_000, Every: time.Second},
		{Unit: quota.Tokens, Most: 100_000_000, Refill: 100_000_000, Every: time.Second},
		{Unit: quota.Requests, Most: 100_000, Refill: 100_000, Every: time.Second},
	}
	held := make([]quota.Lease, len(limits))
	leases := make([]*quota.Lease, len(limits))
	for i := range limits {
		held[i].Unit = limits[i].Unit
		leases[i] = &held[i]
	}
	ask := quota.Amounts{quota.Requests: 1, quota.Tokens: 100}
	now := unit.Instant(1)
	b.ReportAllocs()
	for b.Loop() {
		now = now.Add(time.Microsecond)
		for i, l := range leases {
			if want := l.Wants(now, limits[i].LeaseMost(4)); want > 0 {
				l.Fill(now, quota.Granted{Credit: want, Lasts: quota.Forever})
			}
		}
		if v := quota.Spend(now, leases, &ask); !v.OK() {
			b.Fatal(v)
		}
	}
}
