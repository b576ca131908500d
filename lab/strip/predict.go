package strip

import (
	"fmt"
	"math"

	"github.com/spillway-dev/spillway/lab"
)

// predictions are what the arithmetic and the law's promises say of the table.
//
// backS is within how many seconds of the load's end everything is personalised.
func predictions(arms []Setting, backS float64) (all []lab.Prediction) {
	byPlace := map[string]string{} // arm by policy, load and seed
	place := func(policy string, s *Setting) string { return fmt.Sprintf("%s %v %d", policy, s.Load, s.Seed) }
	for i := range arms {
		if s := &arms[i]; !s.Further {
			byPlace[place(s.Policy, s)] = s.Name
		}
	}
	add := func(p lab.Prediction) { all = append(all, p) }
	for i := range arms {
		s := &arms[i]
		if s.Twin != "" {
			continue // it is there to be compared with
		}
		if s.Further {
			all = append(all, further(s, backS)...)
			continue
		}
		if s.Load <= 1 {
			continue
		}
		switch s.Policy {
		case "queue":
			add(lab.Expect(s.Name, "on_time_share", lab.AtMost, 0.01, "a queue under more than fits grows without end: nobody is in time"))
		case "random", "session", "prefix", "gap":
			add(lab.Expect(s.Name, "on_time_share", lab.AtLeast, 0.999, "what does not fit is shed before it waits"))
			add(lab.Expect(s.Name, "p99_ms", lab.AtMost, s.DeadlineMs, "so nearly everybody is in time"))
		}
		if s.Policy != "gap" {
			continue
		}
		add(lab.Expect(s.Name, "personalised_per_s", lab.AtLeast, 0.99*float64(s.Slots)/s.held()*1000, "what fits is served in full"))
		add(lab.Expect(s.Name, "flips_in_word", lab.Is, 0, "the rung never changes back inside a word"))
		add(lab.Expect(s.Name, "flips_in_sentence_share", lab.AtMost, 0.001, "a decision is held for its sentence"))
		for _, other := range []string{"prefix", "session", "random", "deadline", "queue"} {
			if arm := byPlace[place(other, s)]; arm != "" {
				add(lab.Against(s.Name, "hit_at_3", lab.AtLeast, 1.000001, arm, "the least is lost where the measured gap is smallest"))
			}
		}
	}
	return all
}

func further(s *Setting, backS float64) []lab.Prediction {
	switch s.Name {
	case "scorer-slow", "scorer-slow-overload":
		return []lab.Prediction{
			lab.Expect(s.Name, "failed_share", lab.AtMost, 0.002, "a slow scorer is not a failing one: what does not fit is shed_for_load"),
			lab.Expect(s.Name, "on_time_share", lab.AtLeast, 0.99, "and the strip is in time but for the moment at which it slows down"),
		}
	case "scorer-down":
		return []lab.Prediction{
			lab.Expect(s.Name, "failed_share", lab.AtLeast, 0.45, "half of the time every call fails, and is counted as that"),
			lab.Expect(s.Name, "shed_for_load_share", lab.AtMost, 0.01, "the load fits: nothing is shed"),
		}
	case "scorer-down-overload":
		return []lab.Prediction{lab.Expect(s.Name, "failed_share", lab.AtLeast, 0.2, "failures are told from what is shed")}
	case "second-model":
		return []lab.Prediction{
			lab.Expect(s.Name, "on_time_share", lab.AtLeast, 0.999, "the second model is never offered more than it can do"),
			lab.Expect(s.Name, "answered.second_model", lab.AtLeast, 1, "what is shed gets the model of everybody as far as that can"),
		}
	case "release-steps", "release-at-once":
		return []lab.Prediction{
			lab.Expect(s.Name, "seconds_to_full", lab.AtMost, backS, "everything is personalised again soon after the load's end"),
			lab.Expect(s.Name, "direction_changes", lab.AtMost, 1, "and the share goes down without coming up again"),
		}
	}
	return nil
}

// backTarget is what was promised of recorded messages, in seconds.
const backTarget = 10

// backS is within how many seconds of the load's end everything is to be personalised: of
// recorded messages what was promised, of the bundled text what its longest sentence takes,
// for a sentence keeps its rung to its end.
func (o *Options) backS(m *material) float64 {
	if o.Text != "" {
		return backTarget
	}
	longest := 0
	for _, w := range m.writers {
		for _, s := range w {
			longest = max(longest, len(s))
		}
	}
	return max(backTarget, math.Ceil(float64(longest)*(keyLeast+keyMore).Seconds()))
}
