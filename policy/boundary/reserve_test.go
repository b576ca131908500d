package boundary

import (
	"testing"
	"time"

	"github.com/spillway-dev/spillway/policy/pool"
	"github.com/spillway-dev/spillway/policy/unit"
)

// A class that has a cheaper answer to give governs its requests by a deadline that
// leaves time to give it, whoever named it.
func TestAReserveIsKeptBackOfEveryDeadline(t *testing.T) {
	const ms = time.Millisecond
	for _, c := range []struct {
		name        string
		named, want time.Duration
	}{
		{"the class's own", 0, 295 * ms},
		{"one that the caller names", 100 * ms, 95 * ms},
		{"one that is cut", time.Minute, 995 * ms},
		{"half of one is the caller's all the same", 6 * ms, 3 * ms},
	} {
		m, err := New(Config{Strict: true, Classes: []Class{{
			Name: "lists", Pool: pool.Config{Slots: 1}, Deadline: 300 * ms, DeadlineMax: time.Second, Reserve: 5 * ms,
		}}})
		if err != nil {
			t.Fatal(err)
		}
		const now = unit.Instant(time.Hour)
		r := Request{}
		if c.named > 0 {
			r.Deadline = now.Add(c.named)
		}
		var out Effects
		if v := m.Offer(now, &r, &out); v.Deadline != now.Add(c.want) {
			t.Errorf("%s: it is governed by %v, want %v", c.name, v.Deadline.Sub(now), c.want)
		}
	}
}
