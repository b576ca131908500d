package limits

import (
	"fmt"

	"github.com/spillway-dev/spillway/lab"
	"github.com/spillway-dev/spillway/policy/limit"
)

// predictions are what is demanded of the default, and what is known of the others.
func predictions(arms []Setting) []lab.Prediction {
	var all []lab.Prediction
	for i := range arms {
		if s := &arms[i]; s.law == limit.Knee {
			all = append(all, s.demanded()...)
		} else {
			all = append(all, s.known()...)
		}
	}
	return all
}

// demanded is what the default must reach.
func (s *Setting) demanded() []lab.Prediction {
	var all []lab.Prediction
	say := func(figure string, is lab.Relation, value float64, says string) {
		all = append(all, lab.Expect(s.Name, figure, is, value, says))
	}
	n := 0
	for i := range s.Phases {
		if p := &s.Phases[i]; p.Step {
			say(fmt.Sprintf("steps.%d.found_s", n), lab.AtMost, float64(s.allowedS(p)),
				fmt.Sprintf("what changes at %d s is found in the later of 5 s and 250 service times", p.AtS))
			n++
		}
	}
	if n > 0 {
		say("over_s", lab.AtMost, 0, "never above 1.3 times capacity for longer than that")
		say("error", lab.AtMost, found, "within a tenth of capacity in the mean")
	}
	switch s.Scenario {
	case "healthy":
		say("refused_healthy", lab.Is, 0, "at half load nobody is refused")
		say("refused_healthy_first_10_s", lab.AtMost, 0.01*coldStart*0.5*perS, "of the first ten seconds less than 1 %")
	case "surge":
		say("worst_second_goodput_share", lab.AtLeast, 0.9, "no second's goodput falls under 90 %")
	case "routes":
		say("variation_last_minute", lab.AtMost, 0.2, "two routes do not hunt each other")
	case "timeouts":
		say("in_flight_while_out", lab.AtMost, 2, "while nothing answers only what tries is in flight")
	}
	return all
}

// known is what the published laws are known for.
func (s *Setting) known() []lab.Prediction {
	expect := func(figure string, is lab.Relation, value float64, says string) []lab.Prediction {
		return []lab.Prediction{lab.Expect(s.Name, figure, is, value, says)}
	}
	switch {
	case s.Scenario == "overload" && s.law == limit.AIMD:
		return expect("error", lab.AtLeast, 1, "late is not lost: without drops it climbs past capacity without end")
	case s.Scenario == "overload" && s.law == limit.Gradient2:
		return expect("over_s", lab.AtLeast, 10, "its long mean learns the queue that it keeps, and allows it")
	case s.Scenario == "overload" && s.law == limit.Vegas:
		return expect("over_s", lab.AtLeast, 10, "it measures the least latency anew while there is a queue, and takes that for none")
	case s.Scenario == "overload" && s.law == limit.MinRTT:
		return expect("error", lab.AtLeast, 0.25, "a buffer of a quarter and a root of the limit stay in the queue")
	case s.Scenario == "healthy" && s.law == limit.MinRTT:
		return expect("refused_healthy", lab.AtLeast, 1, "it lowers its limit to three every minute, whoever asks then")
	case s.Scenario == "slow" && s.law == limit.MinRTT:
		return expect("wasted_share", lab.AtLeast, 0.1, "calls that are slow look like a queue until the next measurement")
	}
	return nil
}
