package limit

import "github.com/spillway-dev/spillway/policy/unit"

// stands reports whether latency has stayed where it was although what is in
// flight is so many times what it was: there is no queue at the larger of the two.
func stands(times, factor float64) bool { return times < (1+factor)/2 }

// follow is what a steady limit does: it goes to where latency is the baseline's,
// with a little headroom.
func (k *knee) follow(now unit.Instant, seen float64) {
	if !k.binds() {
		k.ease(seen)
		return
	}
	switch {
	case seen >= tolerance:
		k.doing, k.baseLatency, k.waited = waiting, seen, 0
		return
	case seen <= lower:
		k.adopt(seen, 1)
		k.smooth, seen = 0, 1
	}
	if k.smooth == 0 {
		k.smooth = seen
	}
	k.smooth += float64(gain * (seen - k.smooth))
	if now >= k.nextDown || k.level < float64(drift*k.proven) {
		k.lookLower(k.look())
		return
	}
	if now >= k.nextUp && k.smooth < 1+near {
		k.step = k.look()
		k.rise(k.smooth)
		return
	}
	k.set(k.level + float64(gain*(float64(k.level/seen)+float64(headroom*k.level)-k.level)))
}

// ease is follow where the limit does not bind: nobody waits for a slot, so that
// what is measured is the resource at ease. It grows only where it was touched.
func (k *knee) ease(seen float64) {
	weight := 0.05
	if seen < 1 {
		weight = 0.2
	}
	k.adopt(seen, weight)
	k.floor = false
	if k.w.touched && seen < 1+near {
		k.set(float64(k.level * (1 + headroom)))
	}
}

// rise raises the limit by the step.
func (k *knee) rise(latency float64) {
	k.doing = rising
	k.base, k.baseLatency, k.baseRunning = k.level, latency, k.w.inFlight()
	k.set(float64(k.level * k.step))
}

// risen judges a limit that was raised.
func (k *knee) risen(now unit.Instant, seen float64) {
	if !k.binds() {
		if k.base > 0 && k.w.inFlight() < k.base {
			k.set(k.base) // nobody wanted more
		}
		k.rest(now)
		return
	}
	latency := seen
	switch {
	case k.base == 0 && seen >= tolerance:
		k.doing, k.baseLatency, k.waited = waiting, seen, 0
		return
	case k.base > 0:
		factor, times := k.w.inFlight()/k.baseRunning, seen/k.baseLatency
		if !stands(times, factor) || seen >= tolerance {
			k.set(max(k.base, k.level/times))
			first := k.proven == 0
			k.rest(now)
			if first {
				k.nextDown = now
			}
			return
		}
		latency = (seen + k.baseLatency) / 2
		k.step = min(2*k.step-1, stepMost)
	}
	k.rise(latency)
	if k.level == k.base {
		k.rest(now)
	}
}

// stood waits for a latency that rises to stand still, for only then does it tell
// what a lower limit does.
func (k *knee) stood(now unit.Instant, seen float64) {
	k.waited++
	switch {
	case seen < tolerance:
		k.rest(now)
	case seen > float64(k.baseLatency*1.15) && k.waited < waits:
		k.baseLatency = seen
	default:
		k.cut(seen)
	}
}

// cut lowers the limit to where there would be no queue, but not by more than
// half, if there is one.
func (k *knee) cut(seen float64) {
	k.doing = cutting
	k.base, k.baseLatency, k.baseRunning = k.level, seen, k.w.inFlight()
	k.set(float64(k.level * max(1/seen, 0.5)))
	k.step = k.base / k.level
}

// wasCut judges a limit that was cut.
func (k *knee) wasCut(now unit.Instant, seen float64) {
	factor := k.baseRunning / k.w.inFlight()
	switch {
	case factor < 1+stepLeast: // the floor binds, or nobody is there
		if k.Limit() == 1 {
			k.adopt(seen, 1) // one alone does not stand in a queue
		}
		k.rest(now)
	case stands(k.baseLatency/seen, factor):
		k.adopt(seen, 1) // calls are no quicker: it is the resource, not a queue
		k.set(k.base)
		k.rest(now)
	case seen >= tolerance:
		k.cut(seen)
	default:
		if seen < 1 {
			k.adopt(seen, 1)
		}
		k.proven = k.level
		k.rest(now)
	}
}

// lookLower lowers the limit a little, to see how long calls take when surely
// none waits.
func (k *knee) lookLower(step float64) {
	k.doing, k.step = looking, step
	k.base, k.baseLatency, k.baseRunning = k.level, k.smooth, k.w.inFlight()
	k.set(min(k.level/step, k.level-1))
}

// looked judges that.
func (k *knee) looked(now unit.Instant, seen float64) {
	factor := k.baseRunning / k.w.inFlight()
	k.nextDown = k.in(now, downTurns)
	switch weight := partly; {
	case factor < 1+stepLeast/2:
		k.set(k.base)
		k.rest(now)
	case stands(k.baseLatency/seen, factor):
		if seen > 1+near || seen < 1-near {
			weight = 1
		}
		k.adopt(seen, weight)
		k.proven = k.base
		k.set(k.base)
		k.rest(now)
	case seen < 1-stepLeast/2: // even the baseline stood in a queue: further down
		k.adopt(seen, 1)
		k.smooth = 1
		k.lookLower(min(float64(k.step*k.step), stepMost))
	default:
		k.proven = k.level
		k.rest(now)
	}
}
