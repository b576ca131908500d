package ap_test

import (
	"fmt"

	"github.com/spillway-dev/spillway/lab/fallback/ap"
)

// Two arms of 45,000 requests: one answers 1 in 60 with a stand-in, the other
// every second.
func ExampleRun() {
	every := func(n int) []bool {
		standIns := make([]bool, 45_000)
		for i := range standIns {
			standIns[i] = i%n == 0
		}
		return standIns
	}
	o := ap.Defaults()
	result, err := ap.Run(o, []ap.Arm{{Name: "few", StandIns: every(60)}, {Name: "half", StandIns: every(2)}}, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("average precision %.3f, %.1f %% buy again\n", result.Ranking.Live, 100*result.Ranking.BuyersRanked)
	for _, arm := range result.Order {
		c := result.Arms[arm]
		fmt.Printf("%s: last known %+.4f (%s), default %+.3f, none %+.3f\n",
			arm, c.LastKnown.Delta, c.LastKnown.Verdict, c.Default.Delta, c.None.Delta)
	}
	// Output:
	// average precision 0.551, 23.7 % buy again
	// few: last known -0.0003 (too close to call), default -0.004, none -0.006
	// half: last known -0.0118 (costs), default -0.142, none -0.156
}
