//go:build !linux

package parts

import (
	"time"

	"github.com/spillway-dev/spillway/report"
)

// Nothing is known of the machine here, and reports say so.

func machineTime() jiffies { return jiffies{} }

func loadOf() report.Number { return report.None() }

func cpuTime() time.Duration { return 0 }
