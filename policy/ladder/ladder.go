package ladder

import (
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/spillway-dev/spillway/policy/reason"
)

// RungsMax is how many rungs a ladder may have.
const RungsMax = 16

// The names of the two ends of every ladder, which no rung may have.
const (
	Primary = "primary"
	Refusal = "refusal"
)

// The names of the rungs that are no upstream.
const (
	Cache     = "cache"      // an earlier answer of the primary, as HTTP lets it be used
	LastKnown = "last_known" // the primary's last answer for this key
	Default   = "default"    // a value of the program's
	Static    = "static"     // a fixed answer of the operator's
)

// Rung is one cheaper answer.
type Rung struct {
	// Name is what it is called in headers, metrics and reports. A name that an
	// earlier rung has gets "-2" added, then "-3".
	Name string
	// Needs is the least time that must be left for it to be tried: 0 for what is
	// in memory, about the service time of one that is a service itself.
	Needs time.Duration
}

// Ladder is the order of rungs below the primary, best first. The zero Ladder has
// none: below the primary there is only the refusal.
type Ladder struct {
	rungs []Rung
}

// New returns the ladder of these rungs. It returns an error that names the rung
// and what would be right, if there are too many, or one has no name, the name of
// an end of the ladder, or a time less than 0.
func New(rungs ...Rung) (Ladder, error) {
	if len(rungs) > RungsMax {
		return Ladder{}, fmt.Errorf("ladder: %d rungs; at most %d make sense", len(rungs), RungsMax)
	}
	l := Ladder{rungs: make([]Rung, 0, len(rungs))}
	for i, r := range rungs {
		var err error
		switch {
		case r.Name == "":
			err = errors.New("has no name; say what it is")
		case r.Name == Primary || r.Name == Refusal:
			err = fmt.Errorf("is named %s, which is an end of every ladder; choose another name", r.Name)
		case r.Needs < 0:
			err = fmt.Errorf("needs %v; write 0 or more", r.Needs)
		}
		if err != nil {
			return Ladder{}, fmt.Errorf("ladder: rung %d %w", i+1, err)
		}
		r.Name = l.free(r.Name)
		l.rungs = append(l.rungs, r)
	}
	return l, nil
}

// free returns the name, numbered if it is taken.
func (l Ladder) free(name string) string {
	for n := 1; ; n++ {
		try := name
		if n > 1 {
			try += "-" + strconv.Itoa(n)
		}
		if !l.taken(try) {
			return try
		}
	}
}

func (l Ladder) taken(name string) bool {
	for _, r := range l.rungs {
		if r.Name == name {
			return true
		}
	}
	return false
}

// Len returns how many rungs there are below the primary.
func (l Ladder) Len() int { return len(l.rungs) }

// Name returns the name of a rung, 0 being the first below the primary.
func (l Ladder) Name(rung int) string { return l.rungs[rung].Name }

// Steps reports whether a request that was not served for this reason is given a
// cheaper answer where there is one.
func Steps(why reason.Reason) bool { return int(why) < reason.Count && steps[why] }

var steps = [reason.Count]bool{
	reason.ShedForLoad: true,
	reason.QueueFull:   true,
	reason.QueueBytes:  true,
	reason.Infeasible:  true,
	reason.Operator:    true,

	reason.TenantFull:       true,
	reason.QuotaRequests:    true,
	reason.QuotaTokens:      true,
	reason.QuotaConcurrency: true,

	reason.Expired:      true,
	reason.BlockTimeout: true,
	reason.Evicted:      true,

	reason.Timeout:     true,
	reason.Unknown:     true,
	reason.Failed:      true,
	reason.BreakerOpen: true,
}
