package pressure

import "time"

// Share is a part of a whole, or not known.
type Share struct {
	Value float64 // 0 is none, 1 all; cpu may exceed 1 for a moment
	Known bool
}

func share(v float64) Share { return Share{v, true} }

// Reading is what was seen in one look.
type Reading struct {
	CPU, Memory           Share
	CPUStall, MemoryStall Share
	// Scheduler is how long 99 of 100 goroutines waited at most to be run, since
	// the look before, and SchedulerKnown whether any was.
	Scheduler      time.Duration
	SchedulerKnown bool
}

// Limits is what is allowed of each signal. Zero or less: it is not looked at.
type Limits struct {
	CPU, Memory           float64
	CPUStall, MemoryStall float64
	Scheduler             time.Duration
}

// Level returns how near the most pressing signal is to what is allowed, 1 being
// there, and its name; false if none that is looked at is known.
func (l Limits) Level(r Reading) (level float64, signal string, known bool) {
	for _, s := range []struct {
		name  string
		share Share
		most  float64
	}{
		{"cpu", r.CPU, l.CPU},
		{"memory", r.Memory, l.Memory},
		{"cpu_stall", r.CPUStall, l.CPUStall},
		{"memory_stall", r.MemoryStall, l.MemoryStall},
		{"scheduler", Share{r.Scheduler.Seconds(), r.SchedulerKnown}, l.Scheduler.Seconds()},
	} {
		if s.most <= 0 || !s.share.Known {
			continue
		}
		if v := s.share.Value / s.most; !known || v > level {
			level, signal, known = v, s.name, true
		}
	}
	return level, signal, known
}
