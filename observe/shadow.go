package observe

import (
	"github.com/spillway-dev/spillway/policy/boundary"
	"github.com/spillway-dev/spillway/policy/chance"
	"github.com/spillway-dev/spillway/policy/reason"
)

// The rows about modes. Those of a shadow are there from the first request on
// whose decision was not carried out, and stay.
var (
	enforced       = Definition{"spillway_enforced_ratio", "gauge", []string{"resource", "class", "mode"}, "Share of sessions whose decisions are carried out, by the class's mode."}
	shadowOffered  = Definition{"spillway_shadow_offered_total", "counter", perClass, "Requests about which the policy of a class that is, or was, in shadow decided, whether or not that was carried out. Equal to the sum of spillway_shadow_answered_total over its reasons, plus spillway_shadow_waiting, plus spillway_shadow_running."}
	shadowAnswered = Definition{"spillway_shadow_answered_total", "counter", []string{"resource", "class", "reason"}, "What the policy decided of them; to be held against spillway_answered_total, which is what happened."}
	shadowWaiting  = Definition{"spillway_shadow_waiting", "gauge", perClass, "Requests that wait, or would, if all decisions were carried out."}
	shadowRunning  = Definition{"spillway_shadow_running", "gauge", perClass, "Requests that would hold a slot and whose caller would wait or read."}
	shadowUsed     = Definition{"spillway_shadow_slots_used", "gauge", perClass, "Slots that would be held."}
)

// shadow adds which of a class's decisions are carried out, and what there is of
// those that are not.
func (s sink) shadow(resource string, c *boundary.ClassState) {
	s.add(&enforced, float64(c.Mode.Enforced())/chance.Whole, resource, c.Name, c.Mode.Kind.String())
	if c.Shadow == nil {
		return
	}
	t := &c.Shadow.Tally
	s.add(&shadowOffered, float64(t.Offered), resource, c.Name)
	s.add(&shadowWaiting, float64(t.Waiting), resource, c.Name)
	s.add(&shadowRunning, float64(t.Running), resource, c.Name)
	s.add(&shadowUsed, float64(c.Shadow.Used), resource, c.Name)
	for r, n := range t.Answered {
		if why := reason.Reason(r); n > 0 || why == reason.Served {
			s.add(&shadowAnswered, float64(n), resource, c.Name, why.String())
		}
	}
}
