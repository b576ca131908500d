package limit

import (
	"math"

	"github.com/spillway-dev/spillway/policy/unit"
)

// stands reports whether latency has stayed where it was although what is in
// flight is so many times what it was: there is no queue at the larger of the two.
func stands(times, factor float64) bool { return times < (1+factor)/2 }

// follow is what a steady limit does: it goes to where latency is little above the
// baseline.
func (k *knee) follow(now unit.Instant, seen float64) {
	if !k.binds() {
		k.ease(now, seen)
		return
	}
	switch {
	case seen > 1 && k.off(seen, tolerance):
		k.wait(seen)
		return
	case seen < 1 && k.off(seen, lower):
		k.learn(seen)
		k.smooth, seen, k.nextDown = 0, 1, k.in(now, soonTurns)
	}
	if k.smooth == 0 || math.Abs(seen-k.smooth) > max(float64(surely*k.unsure), news) {
		k.smooth = seen // from here on: a look begins from what stands still
		return
	}
	k.smooth += float64(gain * (seen - k.smooth))
	switch {
	case now >= k.nextDown || k.smooth > 1+max(headroom, k.unsure) && now >= k.doubt:
		step := max(k.look(), k.lookStep)
		if k.proven == 0 {
			step = stepMost // not even the first baseline is known to be at ease
		}
		k.lookLower(step)
	case now >= k.nextUp && k.smooth < 1+max(near, k.unsure):
		k.step = k.look()
		k.rise(k.smooth)
	}
}

// ease is follow where the limit does not bind: nobody waits for a slot, so that
// what is measured is the resource at ease. The limit grows where it was touched, and
// to twice of what is in flight, but no further: what nobody uses proves nothing.
func (k *knee) ease(now unit.Instant, seen float64) {
	k.learn(seen)
	k.floor, k.proven, k.nextUp = false, k.level, now
	if (k.w.touched || 2*k.w.inFlight() > k.level) && (seen < 1 || !k.off(seen, near)) {
		k.set(float64(k.level * (1 + growth)))
	}
}

// footMost times where a climb began, latency is compared with what it was there,
// beside what it was a step before: steps that each add a little unnoticed add up.
const footMost = 1.5

// wait waits for a risen latency to stand still.
func (k *knee) wait(seen float64) { k.doing, k.baseLatency, k.waited = waiting, seen, 0 }

// rise raises the limit by the step.
func (k *knee) rise(latency float64) {
	k.doing = rising
	if k.base == 0 {
		k.foot, k.footLatency = k.w.inFlight(), latency
	}
	k.base, k.baseLatency, k.baseRunning = k.level, latency, k.w.inFlight()
	k.set(float64(k.level * k.step))
}

// risen judges a limit that was raised.
func (k *knee) risen(now unit.Instant, seen float64) {
	k.nextUp = k.in(now, upTurns)
	if !k.binds() {
		if k.base > 0 && k.w.inFlight() < k.base {
			k.set(min(k.base, k.level)) // nobody wanted more
		}
		k.rest(now, upTurns)
		return
	}
	latency := seen
	if k.fresh {
		k.rests = firstSamples
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
		if !stands(times, factor) || seen > 1 && k.off(seen, tolerance) || height < footMost && !stands(seen/max(k.footLatency, 1), height) {
			k.set(max(min(float64(k.w.inFlight()/seen*(1+above)), k.level), min(least, k.level)))
			first, again := k.proven == 0, float64(upTurns)
			if k.level < k.proven/2 { // it could do more not long ago
				again = soonTurns
			}
			k.rest(now, again)
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
		k.rest(now, upTurns)
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
	case k.floor && k.Limit() > 1: // where it may not go is no experiment
		k.rest(now, upTurns)
	case factor < 1+stepLeast: // nobody is there
		if k.Limit() == 1 {
			k.learn(seen) // one alone does not stand in a queue
		}
		k.rest(now, upTurns)
	case stands(k.baseLatency/seen, factor):
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
		k.proven = k.level
		k.rest(now, soonTurns)
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
	case stands(times, factor):
		if k.off(seen, news) {
			k.nextDown = k.in(now, soonTurns)
		}
		k.learn(seen)
		k.proven, k.lookStep = k.base, 1
		k.set(k.base)
		k.rest(now, 0) // there may be room above
	case k.baseLatency < 1+news && k.lookStep == 1 && k.step < footMost: // against what is known: look again, deeper
		k.set(k.base)
		k.rest(now, upTurns)
		k.lookStep = min(2*k.step-1, stepMost)
		k.nextDown = k.in(now, soonTurns)
	default: // there was a queue; is there still?
		if k.lookStep = 1; seen < 1 {
			k.learn(seen)
			if seen < 1-2*news { // by far
				k.lookStep = min(2*k.step-1, stepMost)
			}
		}
		k.proven = k.level
		k.rest(now, upTurns)
		k.nextDown = k.in(now, soonTurns)
	}
}
