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

// Signal is one of those that are looked at.
type Signal struct {
	Name  string  // as the package comment has it
	Level float64 // how near it is to what is allowed, 1 being there
	Known bool
}

// Signals returns those that are looked at, in the order of the package comment.
func (l Limits) Signals(r Reading) (all []Signal) {
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
		if s.most > 0 {
			all = append(all, Signal{s.name, s.share.Value / s.most, s.share.Known})
		}
	}
	return all
}

// Most returns the most pressing of the signals that are known, the first of several;
// one that is not known if there is none.
func Most(all []Signal) (most Signal) {
	for _, s := range all {
		if s.Known && (!most.Known || s.Level > most.Level) {
			most = s
		}
	}
	return most
}
