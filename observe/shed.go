package observe

import "github.com/spillway-dev/spillway/policy/shed"

// What the law of a class that sheds has found.
var (
	shedShare  = Definition{"spillway_shed_share_ratio", "gauge", perClass, "Part of what is offered that the class sheds now; only of classes that shed."}
	shedDemand = Definition{"spillway_shed_demand_per_second", "gauge", perClass, "What is offered to the class a second, those who are shed included, as it decides by it; only of classes that shed."}
	shedGap    = Definition{"spillway_shed_gap_ratio", "gauge", perClass, "Least gap that the class serves in full whatever the session, from 0; above 1 while none is; only of classes that shed."}
)

// law adds what the law of a class has found, where it has one.
func (s sink) law(resource, class string, l *shed.State) {
	if l == nil {
		return
	}
	s.add(&shedShare, float64(l.Share)/1e6, resource, class)
	s.add(&shedDemand, l.DemandPerS, resource, class)
	s.add(&shedGap, float64(l.Gap)/float64(shed.Useless), resource, class)
}
