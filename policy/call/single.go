package call

// Single reports whether the policy is one attempt and its limit: nothing is to be
// decided about such a call while it runs, and its driver may make it without a
// Dependency.
func (p *Policy) Single() bool {
	return p.Retries == 0 && p.Reserve == 0 &&
		p.Hedge.After == 0 && p.Hedge.Percentile == 0 &&
		p.Breaker.Failures == 0 && p.Breaker.Slow == 0 && p.Breaker.Consecutive == 0 &&
		p.Throttle.K == 0
}
