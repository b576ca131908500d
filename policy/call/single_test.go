package call

import "testing"

// Whatever a policy may have beside a limit makes it one that decides.
func TestSingleIsOneAttemptAndItsLimit(t *testing.T) {
	for name, p := range map[string]Policy{
		"nothing":     {},
		"a limit":     {Timeout: 5},
		"a budget":    {Budget: Budget{Percent: 10}},
		"a backoff":   {Backoff: Backoff{Base: 5}},
		"how to open": {Breaker: Breaker{Window: 5, Probes: 3}},
	} {
		if !p.Single() {
			t.Errorf("%s: not single", name)
		}
	}
	for name, p := range map[string]Policy{
		"retries":     {Retries: 1},
		"a reserve":   {Reserve: 1},
		"a hedge":     {Hedge: Hedge{After: 1}},
		"a quantile":  {Hedge: Hedge{Percentile: 95}},
		"failures":    {Breaker: Breaker{Failures: 50}},
		"slow":        {Breaker: Breaker{Slow: 50}},
		"consecutive": {Breaker: Breaker{Consecutive: 5}},
		"a throttle":  {Throttle: Throttle{K: 2}},
	} {
		if p.Single() {
			t.Errorf("%s: single", name)
		}
	}
}
