package observe

import (
	"fmt"
	"math"

	"github.com/spillway-dev/spillway/policy/boundary"
	"github.com/spillway-dev/spillway/policy/limit"
)

var (
	limitNow        = Definition{"spillway_limit", "gauge", []string{"resource", "law"}, "Requests that may hold a slot of the upstream at once, over all its classes, and how that figure is found: fixed, or the law by which it follows what is measured."}
	limitFloorBinds = Definition{"spillway_limit_floor_binds", "gauge", []string{"resource"}, "1 while the limit would be lower if the classes' floors let it: the upstream has more to do than it can, and nothing is learned."}
	limitBaseline   = Definition{"spillway_limit_baseline_seconds", "gauge", []string{"resource"}, "What a call takes when none waits for another inside the upstream, as the limit has learned it; 0 while unknown or fixed."}
	limitLatency    = Definition{"spillway_limit_latency_ratio", "gauge", []string{"resource"}, "What calls took of late, in units of that; 0 while unknown or fixed."}
)

// limit adds the figures of a resource's limit, which each of its classes knows.
func (s sink) limit(resource string, classes []boundary.ClassState) {
	if len(classes) == 0 {
		return
	}
	l := &classes[0].Limit
	binds := 0.0
	if l.FloorBinds {
		binds = 1
	}
	s.add(&limitNow, float64(l.Limit), resource, l.Law.String())
	s.add(&limitFloorBinds, binds, resource)
	s.add(&limitBaseline, l.Baseline.Seconds(), resource)
	s.add(&limitLatency, l.Latency, resource)
	s.add(&limitGivenWay, l.GivenWay, resource)
}

// A Limit is how a resource's limit is found, as it is shown. Times are in
// milliseconds.
type Limit struct {
	Law        string `json:"law"` // fixed, or the law by which it follows what is measured
	Limit      int    `json:"limit"`
	FloorBinds bool   `json:"floor_binds"` // it would be lower if the classes' floors let it
	// BaselineMS is what a call takes when none waits for another inside the upstream,
	// and LatencyRatio what calls took of late, in units of that; 0 while unknown.
	BaselineMS   float64 `json:"baseline_ms"`
	LatencyRatio float64 `json:"latency_ratio"`
	GivenWay     float64 `json:"given_way_share"` // to pressure
	Doing        string  `json:"doing"`           // what the law is at
}

// LimitOf returns a limit as it is shown.
func LimitOf(l *limit.State) Limit {
	return Limit{
		Law: l.Law.String(), Limit: l.Limit, FloorBinds: l.FloorBinds, BaselineMS: float64(l.Baseline.Microseconds()) / 1e3,
		LatencyRatio: math.Round(l.Latency*1e3) / 1e3, GivenWay: math.Round(l.GivenWay*1e3) / 1e3, Doing: l.Doing,
	}
}

// Text says in words what the limit is and why.
func (l Limit) Text() string {
	if l.Law == limit.Constant.String() {
		s := fmt.Sprintf("%d, as configured", l.Limit)
		if l.GivenWay > 0 {
			s = fmt.Sprintf("%d: as configured, less %.0f %% for what presses the machine", l.Limit, 100*l.GivenWay)
		}
		return s
	}
	s := fmt.Sprintf("%d, measured (%s, %s)", l.Limit, l.Law, l.Doing)
	switch {
	case l.BaselineMS == 0:
		s += ": what a call takes at ease is not known yet"
	case l.LatencyRatio == 0:
		s += fmt.Sprintf(": a call takes %g ms at ease", l.BaselineMS)
	default:
		s += fmt.Sprintf(": calls take %.2f times their %g ms at ease", l.LatencyRatio, l.BaselineMS)
	}
	if l.FloorBinds {
		s += "; it would be lower if the classes' min let it, and learns nothing meanwhile"
	}
	if l.GivenWay > 0 {
		s += fmt.Sprintf("; less %.0f %% for what presses the machine", 100*l.GivenWay)
	}
	return s
}
