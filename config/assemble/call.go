package assemble

import (
	"github.com/spillway-dev/spillway/config"
	"github.com/spillway-dev/spillway/policy/call"
	"github.com/spillway-dev/spillway/policy/chance"
)

// Call returns how a class calls an upstream: its own, or that of a rung. What the
// policy counts belongs to this pair: a driver keeps one call.Dependency for each
// class and upstream, and none is shared.
func Call(cfg *config.Config, class config.Class, upstream string) call.Policy {
	c := class.Call
	reserve := c.Reserve.D()
	if len(class.Ladder) > 0 {
		reserve = 0 // it is kept back of the request's own deadline: see Reserve
	}
	return call.Policy{
		Timeout: c.Timeout.D(),
		Reserve: reserve,
		Retries: c.Retries,
		Backoff: backoff(c.Backoff),
		Budget:  budget(c.RetryBudget),
		Hedge: call.Hedge{
			After: c.Hedge.After.Fixed.D(), Percentile: c.Hedge.After.Percentile, Budget: budget(c.Hedge.Budget),
			SlowShare: float64(c.Hedge.SlowShare),
		},
		Breaker: call.Breaker{
			Failures: float64(c.Breaker.Failures), Slow: float64(c.Breaker.Slow), SlowAfter: c.Breaker.SlowAfter.D(),
			Consecutive: c.Breaker.Consecutive,
			Window:      c.Breaker.Window.D(), MinCalls: c.Breaker.MinCalls,
			OpenFor: c.Breaker.OpenFor.D(), OpenMax: c.Breaker.OpenMax.D(),
			Probes: c.Breaker.Probes, ProbeTimeout: c.Breaker.ProbeTimeout.D(),
		},
		Throttle: call.Throttle{K: c.Throttle.K, Window: c.Throttle.Window.D()},
		// Two classes that pause in step would come back in step.
		Seed: uint64(cfg.Seed) ^ chance.Key(class.Name+"\x00"+upstream),
	}
}

func budget(b config.AttemptBudget) call.Budget {
	return call.Budget{Off: b.Off, Percent: float64(b.Percent), Floor: b.Floor, Tokens: b.Tokens}
}

func backoff(b config.Backoff) call.Backoff {
	if b.Off {
		return call.Backoff{}
	}
	return call.Backoff{Base: b.Base.D(), Max: b.Max.D(), Jitter: jitters[b.Jitter]}
}

var jitters = map[config.Jitter]call.Jitter{
	config.JitterFull:         call.Full,
	config.JitterEqual:        call.Equal,
	config.JitterDecorrelated: call.Decorrelated,
	config.JitterNone:         call.NoJitter,
}
