package job

import "github.com/spillway-dev/spillway/policy/reason"

// Line is what is there of a tenant, of a class, or of all.
type Line struct {
	// Waiting is how many jobs wait, Open how many have no end: those that wait, run or
	// are unknown.
	Waiting, Open int64
	// Bytes is what their rows hold: requests that are to be made, answers that are kept.
	Bytes int64
}

// Bounds are how much there may be. A bound of 0 is none.
type Bounds struct {
	Jobs, Bytes int64
}

// Room tells why there is none for another job of so many bytes: reason.None where there
// is. All is what there is in all, tenant what there is of the tenant.
func Room(all, tenant Line, most, each Bounds, bytes int64) reason.Reason {
	switch {
	case each.full(tenant, bytes):
		return reason.TenantFull
	case most.Jobs > 0 && all.Open >= most.Jobs:
		return reason.QueueFull
	case most.full(all, bytes):
		return reason.QueueBytes
	}
	return reason.None
}

func (b Bounds) full(l Line, bytes int64) bool {
	return b.Jobs > 0 && l.Open >= b.Jobs || b.Bytes > 0 && l.Bytes > b.Bytes-bytes
}

// Add returns the line with what a job counts for in it: once, or taken off again.
func (l Line) Add(j *Job, bytes, sign int64) Line {
	if j.State == Waiting {
		l.Waiting += sign
	}
	if !j.State.Final() && !j.Inline {
		l.Open += sign
	}
	l.Bytes += sign * bytes
	return l
}
