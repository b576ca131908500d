package pool

import (
	"testing"
	"time"

	"github.com/spillway-dev/spillway/policy/unit"
)

// What must be left to be let in grows by how late turns come, and by no more
// than a quarter of what serving takes, whatever happens.
func TestLateness(t *testing.T) {
	for _, c := range []struct {
		name string
		late func(i int) time.Duration // by how much waiter i's turn comes late
		want time.Duration             // beside the service time, at the most 3.2 % above
	}{
		{"never", func(int) time.Duration { return 0 }, 0},
		{"sooner than predicted", func(int) time.Duration { return -20 * ms }, 0},
		{"every turn by 8 ms", func(int) time.Duration { return 8 * ms }, 8 * ms},
		{"one in ten by 12 ms", func(i int) time.Duration { return time.Duration(i%10/9) * 12 * ms }, 12 * ms},
		{"one in fifty by 12 ms", func(i int) time.Duration { return time.Duration(i%50/49) * 12 * ms }, 0},
		{"hopelessly", func(int) time.Duration { return time.Hour }, 25 * ms},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := New(Config{Slots: 1, Latency: 300 * ms})
			for range 100 {
				p.Ended(100*ms, true)
			}
			service := p.ServiceTime()
			for i := range 1000 {
				p.Turned(&Item{Offered: 0, predicted: 50 * ms}, unit.Instant(50*ms+c.late(i)))
			}
			got := p.NeededToWait() - service
			if got < c.want || got > c.want+c.want/30+2*time.Microsecond {
				t.Errorf("%v beside the service time, want %v", got, c.want)
			}
		})
	}
}
