package parts

import (
	"context"
	"time"

	"github.com/spillway-dev/spillway/report"
)

// Machine is what is to be known of the machine in one round.
type Machine struct {
	Cores int `json:"cores"`
	// Idle is the machine's share of idle time in the two seconds before; Quiet says
	// that it was enough.
	Idle  report.Number `json:"idle_before"`
	Quiet bool          `json:"quiet"`
	Load  report.Number `json:"load_1m"`
	// Stolen is the share of the machine's time in the round that its host took away.
	Stolen report.Number `json:"stolen_share"`
	// CPU is how many cores each part kept busy, mean over the round.
	CPU map[string]report.Number `json:"cpu_cores"`
}

// What idle means.
const (
	idleFor   = 2 * time.Second
	idleShare = 0.95
	watches   = 5 // before a round is played on a machine that is busy
)

// jiffies are the machine's processor time since it started, in the kernel's units.
type jiffies struct{ all, idle, stolen uint64 }

func share(part, all uint64) report.Number {
	if all == 0 {
		return report.None()
	}
	return report.Share(int64(part), int64(all))
}

// watch returns the share of idle time of the next two seconds.
func watch(ctx context.Context) report.Number {
	before := machineTime()
	select {
	case <-time.After(idleFor):
	case <-ctx.Done():
		return report.None()
	}
	after := machineTime()
	return share(after.idle-before.idle, after.all-before.all)
}

func isQuiet(idle report.Number) bool { return idle.Known() && float64(idle) >= idleShare }
