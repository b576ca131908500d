package limit

import (
	"math"

	"github.com/spillway-dev/spillway/policy/unit"
)

// stands reports whether latency has stayed where it was although what is in
// flight is so many times what it was: there is no queue at the larger of the two.
func stands(times, factor float64) bool { return times < (1+factor)/2 }

// stayed is stands where what is chance is known as well: of a large step a part that is
// surely more than that is a queue, which begins somewhere between the two levels.
func (k *knee) stayed(times, factor float64) bool {
	chance := math.Sqrt(float64(k.noise * (1/float64(k.w.n) + 1/max(k.baseCalls, 1))))
	return times < min((1+factor)/2, 1+max(headroom, float64(half*chance)))
}

// footMost times where a climb began, latency is compared with what it was there,
// beside what it was a step before: steps that each add a little unnoticed add up.
const footMost = 1.5

// wait waits for a risen latency to stand still.
func (k *knee) wait(seen float64) { k.doing, k.baseLatency, k.waited = waiting, seen, 0 }

// rise raises the limit by the step.
func (k *knee) rise(latency float64) {
	k.doing, k.room = rising, false
	if k.base == 0 {
		k.foot, k.footLatency = k.w.inFlight(), latency
	}
	k.base, k.baseLatency, k.baseRunning, k.baseCalls = k.level, latency, k.w.inFlight(), max(k.calls, float64(k.w.n))
	k.set(float64(k.level * k.step))
}

// risen judges a limit that was raised.
func (k *knee) risen(now unit.Instant, seen float64) {
	k.nextUp = k.in(now, againTurns)
	if !k.binds() {
		if k.base > 0 && k.w.inFlight() < k.base {
			k.set(min(k.base, k.level)) // nobody wanted more
		}
		k.rest(now, upTurns)
		return
	}
	latency := seen
	if k.fresh {
		k.learn(min(max(seen, 1-near), 1+near))
		k.fresh, seen, latency = false, 1, 1
	}
	switch {
	case k.base == 0 && seen > 1 && k.off(seen, tolerance):
		k.wait(seen)
		return
	case k.base > 0:
		factor, times := k.w.inFlight()/k.baseRunning, seen/max(k.baseLatency, 1)
		height := k.w.inFlight() / k.foot
		if seen < 1 && k.off(seen, lower) { // quicker under more: the baseline is of another time
			k.learn(seen)
			k.set(min(k.base, k.level))
			k.rest(now, upTurns)
			k.nextDown = k.in(now, soonTurns)
			return
		}
		least := float64(drift * k.base)
		if times > float64(factor*(1+max(tolerance, float64(surely*k.unsure)))) { // slower than a queue: something else has happened
			k.set(min(least, k.level))
			k.rest(now, upTurns)
			k.wait(seen)
			return
		}
		if !k.stayed(times, factor) || seen > 1 && k.off(seen, tolerance) || height < footMost && !stands(seen/max(k.footLatency, 1), height) {
			k.refused(now, seen, factor)
			return
		}
		latency = (seen + k.baseLatency) / 2
		k.step = min(2*k.step-1, stepMost)
	}
	k.rise(latency)
	if k.level == k.base {
		k.rest(now, upTurns)
	}
}

// refused goes back from a raise that gave no more: to where both levels say that the
// queue begins; of a large one the lower says nothing.
func (k *knee) refused(now unit.Instant, seen, factor float64) {
	to := float64(k.w.inFlight() / seen * (1 + above))
	if factor < footMost {
		to = (to + float64(k.base*(1+above)/max(k.baseLatency, 1))) / 2
	}
	k.set(max(min(to, k.level), min(float64(drift*k.base), k.level)))
	first, again := k.proven == 0, float64(againTurns)
	if k.level < k.proven/2 { // it could do more not long ago
		again = soonTurns
	}
	k.rest(now, again)
	if first {
		k.nextDown = now
	}
}

// stood waits for a latency that rises to stand still, for only then does it tell
// what a lower limit does.
func (k *knee) stood(now unit.Instant, seen float64) {
	k.waited++
	switch {
	case seen < 1 || !k.off(seen, tolerance):
		k.rest(now, upTurns)
	case seen > float64(k.baseLatency*1.15) && k.waited < waits:
		k.baseLatency = seen
	default:
		k.cut((seen + k.baseLatency) / 2)
	}
}

// cut lowers the limit to where there would be no queue, but not by more than
// half, if there is one.
func (k *knee) cut(seen float64) {
	k.doing = cutting
	k.base, k.baseLatency, k.baseRunning, k.baseCalls = k.level, seen, k.w.inFlight(), float64(k.w.n)
	k.set(float64(min(k.level, k.baseRunning+1) * max(1/seen, 0.5))) // of what is in flight, where that is less
	k.step = k.base / k.level
}

// wasCut judges a limit that was cut.
func (k *knee) wasCut(now unit.Instant, seen float64) {
	factor := k.baseRunning / k.w.inFlight()
	switch {
	case k.floor && k.Limit() > 1: // where it may not go is no experiment
		k.rest(now, upTurns)
	case factor < 1+stepLeast: // nobody is there
		if k.Limit() == 1 {
			k.learn(seen) // one alone does not stand in a queue
		}
		k.rest(now, upTurns)
	case k.stayed(k.baseLatency/seen, factor):
		k.learn(seen) // calls are no quicker: it is the resource, not a queue
		k.set(k.base)
		k.rest(now, 0)
		k.nextDown = k.in(now, soonTurns)
	case seen > 1 && k.off(seen, tolerance):
		k.cut(seen)
	default:
		if seen < 1 {
			k.learn(seen)
		}
		k.proven, k.room = k.level, true
		k.rest(now, soonTurns)
	}
}

// lookLower lowers the limit a little, to see how long calls take when surely
// none waits.
func (k *knee) lookLower(step float64) {
	k.doing, k.step = looking, step
	k.base, k.baseLatency, k.baseRunning, k.baseCalls = k.level, k.smooth, k.amid, k.calls
	k.set(min(k.level/step, k.level-1))
}

// looked judges that.
func (k *knee) looked(now unit.Instant, seen float64) {
	factor, times := k.baseRunning/k.w.inFlight(), k.baseLatency/seen
	k.nextDown, k.doubt = k.in(now, downTurns), k.in(now, doubtTurns)
	switch {
	case factor < 1+stepLeast/2:
		k.set(k.base)
		k.rest(now, upTurns)
	case times < 1-max(near, float64(surely*k.unsure)): // slower under less: something else has happened meanwhile
		k.set(k.base)
		k.rest(now, upTurns)
		k.wait(seen)
	case k.stayed(times, factor):
		if k.off(seen, news) {
			k.nextDown = k.in(now, soonTurns)
		}
		if seen > k.baseLatency { // fewer at once cannot be slower
			k.learnBoth(seen)
		} else {
			k.learn(seen)
		}
		k.proven, k.lookStep, k.room = k.base, 1, true
		k.set(k.base)
		k.rest(now, 0) // there may be room above
	default:
		k.queued(now, seen, times, factor)
	}
}

// queued is what comes of a queue that a lower limit has shown: how long it was says
// where it begins. If it reaches below the lower level as well, or is against what is
// known, the next look is deeper, and soon.
func (k *knee) queued(now unit.Instant, seen, times, factor float64) {
	deeper := !stands(times, factor)
	if !deeper || k.proven > 0 {
		k.proven = k.level
	}
	deeper = deeper || k.lookStep == 1 && k.baseLatency < 1+headroom
	k.lookStep = 1
	if deeper {
		k.lookStep = min(2*k.step-1, stepMost)
	}
	if deeper || k.off(seen, news) {
		k.nextDown = k.in(now, soonTurns)
	}
	if seen < 1 {
		k.learn(seen)
	}
	k.set(max(k.level, min(float64(k.baseRunning/times*(1+above)), k.base)))
	k.rest(now, upTurns)
}
