package observe

import "github.com/spillway-dev/spillway/policy/boundary"

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
}
