package limit

import (
	"math"

	"github.com/spillway-dev/spillway/policy/unit"
)

// follow is what a steady limit does: it leans to where latency is little above the
// baseline, and looks now and then whether the baseline is still right and whether
// there is room.
func (k *knee) follow(now unit.Instant, seen float64) {
	if !k.binds() {
		k.ease(now, seen)
		return
	}
	switch {
	case seen > 1 && k.off(seen, tolerance):
		k.lean(seen)
		k.wait(seen)
		return
	case seen < 1 && k.off(seen, lower):
		k.learn(seen)
		k.calls, seen, k.nextDown = 0, 1, k.in(now, soonTurns)
	}
	stands := k.gather(seen)
	k.lessen()
	k.lean(k.smooth)
	if !stands {
		return
	}
	// Until the baselines rest on a look, two windows are enough to go on with.
	known := k.proven > 0 && k.known() >= float64(lookTurns*k.level)
	ready := !known || k.gathered()
	switch {
	case ready && (now >= k.nextDown || now >= k.doubt && k.doubtful(known)):
		step := max(k.look(), k.lookStep)
		if k.proven == 0 {
			step = stepMost // not even the first baseline is known to be at ease
		}
		k.lookLower(step)
	case ready && now >= k.nextUp && (k.room || k.smooth < 1+above/2):
		k.step = k.look()
		k.rise(k.smooth)
	}
}

// doubtful reports whether latency says that the limit is too high, or the baseline
// wrong. Where that is known well, leaning will do for a little.
func (k *knee) doubtful(known bool) bool {
	if known {
		return k.smooth > 1+2*headroom
	}
	return k.smooth > 1+max(headroom, float64(2*math.Sqrt(float64(k.noise/k.calls))))
}

// gather takes a window in beside the steady ones before it, and reports whether there
// are any: what has just changed begins anew, so that a look begins from what stands
// still.
func (k *knee) gather(seen float64) bool {
	n := float64(k.w.n)
	if k.calls == 0 || math.Abs(seen-k.smooth) > max(float64(surely*k.unsure), news) {
		k.smooth, k.amid, k.calls = seen, k.w.inFlight(), n
		return false
	}
	k.calls += n
	k.smooth += float64(n / k.calls * (seen - k.smooth))
	k.amid += float64(n / k.calls * (k.w.inFlight() - k.amid))
	k.calls = min(k.calls, k.aLook())
	return true
}

// gathered reports whether the steady windows hold about as many calls as a look.
func (k *knee) gathered() bool { return k.calls >= float64(0.9*k.aLook()) }

// lessen lowers the baselines where calls are surely quicker: whether or not there is a
// queue, without one they take no longer.
func (k *knee) lessen() {
	known := k.known()
	chance := math.Sqrt(float64(k.noise * (1/k.calls + 1/max(known, 1))))
	if k.gathered() && 1-k.smooth > max(above, float64(surely*chance)) {
		by := 1 - float64((1-k.smooth)*k.calls)/(k.calls+known)
		k.scale(by)
		k.smooth /= by
	}
}

// lean moves the limit a little to where latency exceeds the baseline by as much as
// shows that nothing is wasted: as an experiment would, but for its price.
func (k *knee) lean(latency float64) {
	part := min(float64(k.w.n)/float64(leanTurns*k.level), 1)
	off := (1+above)/max(latency, 1) - 1
	k.set(float64(k.level * (1 + float64(part*min(max(off, -headroom), headroom)))))
}

// ease is follow where the limit does not bind: nobody waits for a slot, so that
// what is measured is the resource at ease, unless calls have become slow: then a line
// may be growing inside it. The limit grows where it was touched, and to twice of what is
// in flight, but no further: what nobody uses proves nothing.
func (k *knee) ease(now unit.Instant, seen float64) {
	if seen > 1 && k.off(seen, tolerance) {
		k.wait(seen)
		return
	}
	k.learn(seen)
	k.floor, k.proven, k.room, k.nextUp = false, k.level, true, now
	if k.w.touched || 2*k.w.inFlight() > k.level {
		k.set(float64(k.level * (1 + growth)))
	}
}
