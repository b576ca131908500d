package fallback

import (
	"fmt"

	"github.com/spillway-dev/spillway/lab"
	"github.com/spillway-dev/spillway/report"
)

// each is a prediction about one figure in every round.
func each(o *Options, arm, figure string, is lab.Relation, value float64, than, says string) lab.Prediction {
	p := lab.Prediction{Says: says, Arm: arm, Is: is, Than: than}
	for i := range o.Rounds {
		p.Figures = append(p.Figures, fmt.Sprintf("rounds.%d.%s", i, figure))
		p.Values = append(p.Values, report.Number(value))
	}
	return p
}

// fewForTipping is how many rounds a prediction takes that something does tip.
const fewForTipping = 20

// Predictions are what is expected of the arms, before they are played. They are
// about rounds of 10 s or more: in shorter ones hardly anything freezes.
func Predictions(o *Options) []lab.Prediction {
	if o.Own != nil || o.Seconds < 10 {
		return []lab.Prediction{}
	}
	median := func(arm, figure string, is lab.Relation, value float64, says string) lab.Prediction {
		return lab.Expect(arm, "median."+figure, is, value, says)
	}
	against := func(arm, figure string, is lab.Relation, times float64, than, says string) lab.Prediction {
		return lab.Against(arm, "median."+figure, is, times, than, says)
	}
	return append([]lab.Prediction{
		median("F3-none", "p50_ms", lab.Is, 2+restMs, "a fixed wait of 2 ms, scoring and network: 3.9 ms"),
		median("F3-none", "p99_ms", lab.AtMost, 10, "hardly anybody waits in line"),
		median("L3-none", "p99_ms", lab.AtLeast, 20+restMs, "the long tail's p99 lies between 20 and 25 ms"),
		median("L3-none", "p99_ms", lab.AtMost, 25+restMs, "and not above"),
		each(o, "H3-none", "p995_ms", lab.AtLeast, 1200, "", "half a percent of requests wait for freezes of 1 to 2 s: p99.5 is about their middle"),
		each(o, "H3-none", "p995_ms", lab.AtMost, 1700, "", "in every round"),
		median("H3-t10", "error_share", lab.AtLeast, 0.06, "a limit of 10 ms cuts off the tail: one in fourteen"),
		median("H3-t10", "error_share", lab.AtMost, 0.09, "and no more"),
		median("H3-t25", "p99_ms", lab.AtLeast, 24, "a limit of 25 ms gives a p99 just above it"),
		median("H3-t25", "p99_ms", lab.AtMost, 28, "and no more than that"),
		median("H3-fb25", "p99_ms", lab.AtLeast, 24, "a stand-in costs no more time than an error"),
		median("H3-fb25", "p99_ms", lab.AtMost, 28, "nor less"),
		median("H3-fb25", "stand_in_share", lab.AtMost, 0.025, "for the freezes, and what the limit cuts off of the tail"),
		median("H3-t100", "error_share", lab.AtMost, 0.013, "at 100 ms only freezes are cut off"),
		median("H3-dl", "max_ms", lab.AtMost, 25, "a deadline with 2 ms kept back is kept: scoring and network take 1.9"),
		each(o, "H3-dldown", "store_ms_per_call", lab.AtMost, 1.0/3, "H3-dl", "a deadline that goes along holds the store at most a third of the time"),
		each(o, "H3-r2", "stand_in_share", lab.AtMost, 0, "", "two retries at 300/s: no stand-ins"),
		median("H3-r2", "calls_per_request", lab.AtLeast, 1.01, "for 1 to 2.5 % more calls"),
		median("H3-r2", "calls_per_request", lab.AtMost, 1.025, "and no more"),
		against("H3-hedge", "p99_ms", lab.AtMost, 0.7, "H3-fb25", "a second ask shortens the tail by a third or more"),
		median("H3-hedge", "calls_per_request", lab.AtLeast, 1.05, "for 5 to 9 % more calls"),
		median("H3-hedge", "calls_per_request", lab.AtMost, 1.09, "and no more"),
		against("L3-hedge", "p99_ms", lab.AtMost, 0.7, "L3-t25", "also without freezes"),
	}, predictions450(o)...)
}

// predictions450 are about the rate at which a flood can feed itself: below
// 890/s, which 16 slots of 18 ms sustain, and above a third of it.
func predictions450(o *Options) []lab.Prediction {
	tipped := func(arm string, is lab.Relation, n float64, says string) lab.Prediction {
		return lab.Expect(arm, "tipping.tipped", is, n, says)
	}
	p := []lab.Prediction{
		tipped("H4-fb25", lab.AtMost, 0, "without retries nothing feeds a flood"),
		tipped("H4-dldown", lab.AtMost, 0, "nor where lookups stop at the deadline"),
		tipped("H4-r2-b10", lab.AtMost, 0, "a budget of 10 % keeps calls under what the store sustains"),
		tipped("H4-r2-tokens", lab.AtMost, 0, "so does a token bucket"),
		tipped("H4-r2-limitdown", lab.AtMost, 0, "lookups that stop at 25 ms hold a slot 3 ms on average: three attempts of everybody fit"),
		tipped("H4-r2-limitdown-b10", lab.AtMost, 0, "all the more with a budget"),
		tipped("H4-r2-dldown", lab.AtMost, 0, "under one deadline no retry starts"),
		tipped("H4-r2-dldown-b10", lab.AtMost, 0, "with a budget or without"),
		tipped("H4-hedge-b10", lab.AtMost, 0, "a budget keeps hedges from feeding a flood"),
		tipped("H4-all", lab.AtMost, 0, "nor does anything tip with every defence on"),
		tipped("H4-r2-protected", lab.AtMost, 0, "a store that refuses what cannot be done in time does no work for nobody"),
		lab.Expect("H4-r2-limitdown-b10", "median.stand_in_share", lab.AtMost, 0.001, "retries that spare the store leave next to no stand-ins"),
		lab.Expect("H4-r2-limitdown-b10", "median.calls_per_request", lab.AtMost, 1.1, "for less than 10 % more calls"),
		lab.Against("H4-r2-dldown-b10", "median.stand_in_share", lab.AtLeast, 0.9, "H4-dldown", "a retry that never starts saves nobody"),
		lab.Against("L4-customer-r2", "median.stand_in_share", lab.AtLeast, 0.9, "L4-customer-fb25", "one customer's freezes are the same at every attempt: retries save nobody"),
		lab.Against("L4-customer-hedge-b10", "median.stand_in_share", lab.AtLeast, 0.5, "L4-customer-fb25", "hedges save none of those either"),
		lab.Against("L4-apart-hedge-b10", "median.stand_in_share", lab.AtMost, 0.5, "L4-together-hedge-b10", "a hedge to another copy halves the stand-ins, if that is not busy too"),
		lab.Against("L4-busy-r2", "median.stand_in_share", lab.AtLeast, 1, "L4-busy-fb25", "where all is slow at once, retries make it worse"),
	}
	if o.Tipping || o.Rounds >= fewForTipping {
		n := float64(max(o.Rounds, fewForTipping))
		if o.Tipping {
			n = TippingRounds
		}
		p = append(p,
			tipped("H4-r2", lab.AtLeast, 0.05*n, "retries without a budget tip in a clear share of rounds"),
			lab.Against("H4-r2b", "tipping.tipped", lab.AtLeast, 0.5, "H4-r2", "pauses do not help"),
			lab.Against("H4-r2bj", "tipping.tipped", lab.AtLeast, 0.5, "H4-r2", "nor does jitter"),
			tipped("H4-hedge", lab.AtLeast, 0.05*n, "a hedge without a budget tips too"),
			lab.Against("H4-r2-breaker", "tipping.tipped", lab.AtMost, 0.5, "H4-r2", "a breaker gets out of half of the floods or more"),
		)
	}
	return p
}
