package observe

import "time"

// Overridden is a class whose limits an operator has overridden.
type Overridden struct {
	Class string
	Left  time.Duration
}

var overrideLeft = Definition{"spillway_override_remaining_seconds", "gauge", []string{"class"}, "How long limits of the class are still overridden by an operator; absent while none are. /overrides says which, by whom and why."}

func (s sink) overrides(all []Overridden) {
	for _, o := range all {
		s.add(&overrideLeft, o.Left.Seconds(), o.Class)
	}
}
