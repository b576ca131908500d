package observe

import "github.com/spillway-dev/spillway/policy/scale"

// What autoscalers go by.
var (
	perResource   = []string{"resource"}
	scaleDemand   = Definition{"spillway_demand_slots", "gauge", perResource, "Slots that what is offered would hold, refused and degraded requests included."}
	scaleDesired  = Definition{"spillway_desired_slots", "gauge", perResource, "Slots that there should be: spillway_demand_slots with room for chance (scale.utilisation), not less than the latest scale.fall asked for. Held in an outage."}
	scaleRatio    = Definition{"spillway_desired_ratio", "gauge", perResource, "spillway_desired_slots as a part of those that there are; above 1 there are too few."}
	scaleMeasured = Definition{"spillway_desired_measured", "gauge", perResource, "0 while spillway_desired_slots is not measured but held, because the resource is in an outage, and before anything is known."}
)

// Scale is what is told of a resource.
type Scale struct {
	Resource string
	scale.Reading
}

func (s sink) scales(all []Scale) {
	for _, r := range all {
		s.add(&scaleDemand, r.Demand, r.Resource)
		s.add(&scaleDesired, r.Desired, r.Resource)
		s.add(&scaleRatio, r.Ratio, r.Resource)
		s.add(&scaleMeasured, truth(r.Measured), r.Resource)
	}
}
