package observe_test

import (
	"testing"
	"time"

	"github.com/spillway-dev/spillway/observe"
	"github.com/spillway-dev/spillway/policy/limit"
)

func TestALimitIsToldInWords(t *testing.T) {
	for _, tt := range []struct {
		state limit.State
		want  string
	}{
		{limit.State{Limit: 40, Doing: "fixed"}, "40, as configured"},
		{limit.State{Limit: 30, GivenWay: 0.25}, "30: as configured, less 25 % for what presses the machine"},
		{limit.State{Law: limit.Knee, Limit: 20, Doing: "rising"}, "20, measured (knee, rising): what a call takes at ease is not known yet"},
		{limit.State{Law: limit.Vegas, Limit: 20, Baseline: 20 * time.Millisecond, Doing: "steady"}, "20, measured (vegas, steady): a call takes 20 ms at ease"},
		{limit.State{Law: limit.Knee, Limit: 8, Baseline: 20500 * time.Microsecond, Latency: 1.314, FloorBinds: true, Doing: "cutting"},
			"8, measured (knee, cutting): calls take 1.31 times their 20.5 ms at ease; it would be lower if the classes' min let it, and learns nothing meanwhile"},
	} {
		if got := observe.LimitOf(&tt.state).Text(); got != tt.want {
			t.Errorf("%+v:\n got %s\nwant %s", tt.state, got, tt.want)
		}
	}
}
