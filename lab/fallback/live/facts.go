package live

import (
	"github.com/spillway-dev/spillway/lab/parts"
	"github.com/spillway-dev/spillway/report"
)

// Facts are of the machine in one round, and of what took part.
type Facts struct {
	parts.Machine
	// LagP99Ms is by how much the tester sent late what it had a sender for.
	LagP99Ms report.Number `json:"lag_p99_ms"`
	// HeldLateP99Ms is by how much longer lookups held their slots than they drew.
	HeldLateP99Ms report.Number `json:"held_late_p99_ms"`
	// AfterLimit is the share of requests whose answer came after its lookup's limit,
	// and before the timer that was to say so had rung: it is used.
	AfterLimit report.Number `json:"answered_after_limit_share"`
	Checked    int           `json:"answers_checked"`
}
