package config

// call reports what contradicts itself in how a class (d, defaults filled in) calls;
// c is what was written.
func (k *checker) call(c Call, d Class, at string) {
	if r := c.Reserve; r >= d.Deadline && r != 0 {
		k.report(join(at, "reserve"), "make it a small part of the deadline", "is %s, and the deadline is %s: nothing is left to call in", r, d.Deadline)
	}
	k.budget(c.RetryBudget, join(at, "retry_budget"))
	k.budget(c.Hedge.Budget, join(join(at, "hedge"), "budget"))
	if b := c.Backoff; b.Max != 0 && b.Base > b.Max {
		k.report(join(join(at, "backoff"), "base"), "lower it or raise max", "is %s, longer than max %s", b.Base, b.Max)
	} else if b.Off && b != (Backoff{Off: true}) {
		k.report(join(at, "backoff"), "keep off or the keys", "is off and says how long")
	}
	k.breaker(c, join(at, "breaker"))
}

func (k *checker) budget(b AttemptBudget, at string) {
	switch {
	case b.Tokens != 0 && b.Floor != 0:
		k.report(join(at, "floor"), "keep floor or tokens", "means nothing with tokens: a bucket starts full")
	case b.Off && b != (AttemptBudget{Off: true}):
		k.report(at, "keep off or the share", "is off and a share at once")
	}
}

func (k *checker) breaker(c Call, at string) {
	b := c.Breaker
	switch {
	case b == (Breaker{}):
		if k.written(at) {
			k.report(at, "add failures: 50%, or remove it", "says nothing")
		}
		return
	case b.Failures == 0 && b.Slow == 0 && b.Consecutive == 0:
		k.report(at, "add failures: 50%, slow: 50% or consecutive: 5", "has no rule that opens it")
	case b.Slow != 0 && b.SlowAfter == 0:
		k.missing(at, "slow_after", "add slow_after: how long an attempt may take before it counts as slow")
	case b.Slow == 0 && b.SlowAfter != 0:
		k.report(join(at, "slow_after"), "add slow: 50%, or remove it", "means nothing without slow")
	}
	if b.OpenMax != 0 && b.OpenFor > b.OpenMax {
		k.report(join(at, "open_for"), "lower it or raise open_max", "is %s, longer than open_max %s", b.OpenFor, b.OpenMax)
	}
}

// unwiseCall warns of calls that are allowed and probably not meant. What takes
// arithmetic to see is plan's to say.
func (k *checker) unwiseCall(c Class, at string) {
	call := c.Call
	if call.Timeout > c.Deadline {
		k.advise(join(at, "timeout"), "make it shorter", "is %s, longer than the deadline %s: it never acts", call.Timeout, c.Deadline)
	}
	k.unwiseRetries(c, at)
	if h := call.Hedge; h != (Hedge{}) {
		if h.Budget.Off {
			k.advise(join(join(at, "hedge"), "budget"), "write a share such as 10%", "is off: while everything is slow, everything is asked twice")
		}
		limit := c.Deadline
		if call.Timeout != 0 {
			limit = min(limit, call.Timeout)
		}
		if h.After.Fixed >= limit {
			k.advise(join(join(at, "hedge"), "after"), "make it shorter", "is %s, and no try takes longer than %s: it never acts", h.After.Fixed, limit)
		}
	}
	if b := call.Breaker; b != (Breaker{}) {
		within := join(at, "breaker")
		if b.Window < call.Timeout {
			k.advise(join(within, "window"), "make it several times call.timeout", "is %s, shorter than call.timeout %s: calls of one moment are never judged together", b.Window, call.Timeout)
		}
		if call.Timeout != 0 && b.SlowAfter >= call.Timeout {
			k.advise(join(within, "slow_after"), "make it shorter", "is %s, and call.timeout ends an attempt after %s: none is ever slow", b.SlowAfter, call.Timeout)
		}
		if b.ProbeTimeout < call.Timeout {
			k.advise(join(within, "probe_timeout"), "make it as long", "is %s, shorter than call.timeout %s: a probe is given up that another call would wait for", b.ProbeTimeout, call.Timeout)
		}
	}
	if t := call.Throttle; t != (Throttle{}) && t.Window < call.Timeout {
		k.advise(join(join(at, "throttle"), "window"), "make it longer", "is %s, shorter than call.timeout %s: calls leave it before they end", t.Window, call.Timeout)
	}
}

func (k *checker) unwiseRetries(c Class, at string) {
	call := c.Call
	if call.RetryBudget.Off {
		k.advise(join(at, "retry_budget"), "write a share such as 10%", "is off: one bad second can become a flood that does not end")
	}
	if call.Retries == 0 {
		for _, key := range []string{"retry_budget", "backoff"} {
			if k.written(join(at, key)) && !call.RetryBudget.Off {
				k.advise(join(at, key), "add retries, or remove it", "means nothing without retries")
			}
		}
		return
	}
	for _, m := range c.Match.Method {
		if (m == "POST" || m == "PATCH") && !k.honoursKeys(c.Upstream) {
			k.advise(join(at, "retries"), "add honours_keys: on to the upstream if it does a request with an Idempotency-Key once",
				"do not cover a %s that may have run: nothing says that %s knows it again", m, c.Upstream)
			break
		}
	}
}

func (k *checker) honoursKeys(upstream string) bool {
	for _, u := range k.cfg.Upstreams {
		if u.Name == upstream {
			return u.HonoursKeys.On()
		}
	}
	return false
}
