package observe

import "github.com/spillway-dev/spillway/policy/spread"

// Copy is what is known at a scrape of a copy of an upstream.
type Copy struct {
	Resource, Name string
	spread.State
	Connections int64
	// Calls counts calls by what they said of the copy, by spread.Outcome.
	Calls [5]int64
}

var (
	perCopy = []string{"resource", "copy"}

	copyInFlight    = Definition{"spillway_copy_in_flight", "gauge", perCopy, "Requests that the copy works on, as far as the gateway gave them to it."}
	copyConnections = Definition{"spillway_copy_connections", "gauge", perCopy, "Connections open to the copy, idle ones included."}
	copyIn          = Definition{"spillway_copy_in", "gauge", perCopy, "1 while the copy gets requests, 0 while it is left out or of weight 0."}
	copyWeight      = Definition{"spillway_copy_weight", "gauge", perCopy, "How much it gets beside the other copies; 0: nothing new."}
	copyBad         = Definition{"spillway_copy_bad", "gauge", []string{"resource", "copy", "why"}, "1 while its calls fail (ejected) or its checks do (unhealthy). One that is bad and in is used because of the floor, or because all are bad."}
	copyPart        = Definition{"spillway_copy_part_ratio", "gauge", perCopy, "How much of its turns the copy gets; less than 1 while it starts slowly."}
	copyCalls       = Definition{"spillway_copy_calls_total", "counter", []string{"resource", "copy", "outcome"}, "Calls, by what they said of the copy. A reload that changes the upstream begins anew."}
)

// copies adds the figures of every copy. One that only ends what it has is left
// out: another may have its name.
func (s sink) copies(all []Copy) {
	seen := make(map[[2]string]bool, len(all))
	for i := range all {
		c := &all[i]
		key := [2]string{c.Resource, c.Name}
		if c.Draining || seen[key] {
			continue
		}
		seen[key] = true
		s.add(&copyInFlight, float64(c.InFlight), c.Resource, c.Name)
		s.add(&copyConnections, float64(c.Connections), c.Resource, c.Name)
		s.add(&copyIn, truth(!c.Out && c.Weight > 0), c.Resource, c.Name)
		s.add(&copyWeight, float64(c.Weight), c.Resource, c.Name)
		s.add(&copyBad, truth(c.Ejected), c.Resource, c.Name, "ejected")
		s.add(&copyBad, truth(c.Unhealthy), c.Resource, c.Name, "unhealthy")
		s.add(&copyPart, float64(c.Part)/100, c.Resource, c.Name)
		for o := spread.Answered; o <= spread.Late; o++ {
			s.add(&copyCalls, float64(c.Calls[o]), c.Resource, c.Name, o.String())
		}
	}
}
