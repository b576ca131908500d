package boundary

import (
	"testing"
	"time"

	"github.com/spillway-dev/spillway/policy/reason"
	"github.com/spillway-dev/spillway/policy/shed"
)

// A slice of sessions is no finer than a session. Where there are few, what fits is served
// all the same, whatever places they were dealt: a lone session that is in the slice is
// not shed whole beside idle slots.
func TestFewSessionsLeaveNoSlotsIdle(t *testing.T) {
	for _, sessions := range []int{1, 2, 5, 10, 40} {
		for seed := range uint64(4) {
			f := newFlood(scorer(&shed.Rule{Seed: seed + 3}))
			served := 0
			f.arrivals(12000, 6*time.Second, seed+3, func() {
				f.offered++
				c := &call{service: 8 * ms, request: Request{Session: uint64(f.offered%sessions) + 1}}
				c.answer = func(_ *call, why reason.Reason, _ time.Duration) {
					if why == reason.Served {
						served++
					}
				}
				f.offer(c)
			})
			f.run(3 * time.Second)
			served = 0
			f.run(6 * time.Second)
			if share := float64(served) / (3 * 8000); share < 0.88 {
				t.Errorf("%d sessions, seed %d: of what fits %.1f %% is served", sessions, seed, 100*share)
			}
		}
	}
}
