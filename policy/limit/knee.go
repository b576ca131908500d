package limit

import (
	"math"
	"time"

	"github.com/spillway-dev/spillway/policy/chance"
	"github.com/spillway-dev/spillway/policy/unit"
)

// knee finds the number of calls beyond which more of them at once give no more a
// second. By Little's law (in flight = throughput x latency) that is where latency
// begins to rise in proportion to what is in flight: below it nobody waits inside
// the resource and latency stands still.
//
// Latency alone does not tell a queue from a resource that has become slow. What
// tells them apart is what latency does when the limit moves. Every move is
// therefore an experiment, judged by the calls that ended under the new level:
//
//	a queue       latency moves as the limit does; there was too much
//	no queue      latency stays; what it is now is what a call takes
//
// So the baseline is never learned from slow calls while callers are turned away,
// only from a lower limit that did not make them quicker; and an incident in which
// all calls take ten times as long neither drags the baseline along nor takes slots
// from calls that never stood in a line.
//
// The unit of time is a turn, the time in which every slot is used once: what is
// right at 1 ms a call is right at 10 s.
type knee struct {
	bounds
	routes
	w       window
	doing   doing
	usual   float64 // latency of the last window
	noise   float64 // variance of a call's latency over its mean's square
	turn    float64 // nanoseconds
	stay    float64 // nanoseconds, of a call that is running now, from beginning to end
	unsure  float64 // the standard error of the window's latency, the baselines' included
	changed unit.Instant
	settled unit.Instant // from here on calls are of this level, but for stragglers

	// The last steady windows: their latency, what was in flight, and how many calls.
	smooth, amid, calls float64

	// The experiment: the level that was left, what was seen there and in how many
	// calls, and by how much the limit was moved.
	base, baseLatency, baseRunning, baseCalls, step float64
	foot, footLatency                               float64 // in flight and latency where a climb began
	waited                                          int     // windows, for a rising latency to stand still
	proven                                          float64
	lookStep                                        float64 // of the next look lower, where the last one found a queue
	nextUp, nextDown                                unit.Instant
	doubt                                           unit.Instant // from here on latency above the baseline is a reason to look
	fresh                                           bool         // nothing was measured yet
	room                                            bool         // the last look found no queue, and there was none higher yet
	luck                                            chance.Source
}

// doing is what the limiter is at.
type doing uint8

const (
	rising  doing = iota // up: the limit was raised, what comes of it?
	steady               // follows
	waiting              // latency has risen: until it stands still
	cutting              // the limit was lowered because of it
	looking              // the limit was lowered a little, to see the baseline
)

var doingNames = [...]string{"rising", "steady", "waiting for latency to stand still", "cutting", "looking lower"}

// Where the figures come from: with calls whose time varies as service times do
// (noise 0.3 to 0.5), a look of 15 turns at a hundred slots measures to 1.5 to 2 %. All
// that is small is a multiple of that, all that is seldom a part of the 250 turns in
// which a change is to be found; docs/limits.md has the arithmetic.
const (
	headroom  = 0.04 // of latency above the baseline: two errors of a look; nothing is done about less
	above     = 0.02 // of capacity: what is held beyond it, one error, or half of all errors would waste some
	growth    = 0.02 // of the limit a window, where it does not bind
	tolerance = 0.15 // above the baseline, nearly four errors of a window, latency is looked into at once
	lower     = 0.2  // below it, five errors, it is out of date
	drift     = 0.9  // of the limit before: what is not known for sure costs it no more
	near      = 0.15 // of the baseline: what is further off is another baseline
	news      = 0.05 // of the baseline: what was adopted is to be looked at again soon
	memory    = 3.0  // looks that the baselines rest on at most, which makes them as good as 1 %

	stepMost   = 2.0  // times the limit, rising: any capacity is found in as many steps as it has binary digits
	stepLeast  = 0.06 // of the limit, looking lower or higher
	windowMin  = 16   // calls
	lookTurns  = 15   // of calls at least, for a look: its step is then below a tenth at a hundred slots
	upTurns    = 50   // from one look higher to the next
	againTurns = 100  // if it found no room: and five doublings, to four times the limit, take 85
	downTurns  = 150  // from one look lower to the next: a baseline that has aged is noticed in 170
	doubtTurns = 40   // to the next look lower at the soonest, for latency alone
	soonTurns  = 10   // to the next look where a baseline is fresh
	leanTurns  = 30   // to lean all the way: twice what it measures over, or it would swing
	// sure: a look's step is so many standard errors of the two means it compares, and
	// half of it tells the two answers apart: one look in seventy is wrong.
	sure = 4.4
	half = sure / 2
	// surely: what differs by so many standard errors is not chance.
	surely = 3.0
	// A window of a steady limit has a standard error of a twenty-fifth, if that
	// does not take too long.
	steadyError = 0.04
	steadyTurns = 10
	// settling is how many times a running call takes, to its end, until what ends began
	// under the new level, but for stragglers; a large step needs less care.
	settling      = 1.5
	settlingLarge = 0.75

	fewIll = 3   // and not one or two alone, keep a limit from growing
	full   = 0.9 // of the limit in use: it binds
	waits  = 5   // windows at most, for latency to stand still
	// staleAfter turns without an end what was measured is of another time.
	staleAfter = 20
)

func newKnee(c Config) *knee {
	k := &knee{bounds: newBounds(c), noise: 0.5, usual: 1, step: stepMost, fresh: true, lookStep: 1, luck: chance.New(c.Seed)}
	k.begin(0, false)
	return k
}

// Ended takes in one call.
func (k *knee) Ended(now unit.Instant, s Sample) {
	v := s.says()
	if v == silent {
		return
	}
	if k.w.last > 0 && time.Duration(now-k.w.last) > k.stale() {
		k.giveUp(now)
	}
	k.w.last = now
	switch {
	case v == dropped:
		if now-unit.Instant(s.Held) < k.changed || !k.long(s.Route, s.Held) {
			return // it was begun under another limit; or it was late when it began
		}
		k.w.drops++
	case now < k.settled:
		return
	case v == failed:
		k.w.failed++
	default:
		x, baseline := k.add(s.Route, s.Held, k.usual)
		if baseline == 0 {
			return
		}
		k.w.add(x, baseline)
		k.w.running += int64(s.Running)
		k.w.touched = k.w.touched || s.Running >= k.Limit()
	}
	if ended := k.w.ended(); ended >= k.w.need || 2*k.w.drops > max(ended, k.fewDrops()) {
		k.judge(now)
	}
}

// fewDrops is how many must be missing before they are news: half of those that
// ran, and not one alone.
func (k *knee) fewDrops() int32 { return int32(max(k.level, 4)) }

func (k *knee) stale() time.Duration {
	return max(time.Second, time.Duration(min(float64(staleAfter*k.turn), math.MaxInt64/4)))
}

// need is how many calls a window must hold for what it is to tell.
func (k *knee) need() int32 {
	least := max(k.level, windowMin)
	switch k.doing {
	case rising, looking:
		if k.base == 0 {
			return int32(least)
		}
		if k.doing == looking && k.proven == 0 { // the first baseline: all to come is compared with it
			return int32(max(least, k.aLook()))
		}
		return int32(max(least, min(k.enough(), k.aLook())))
	case cutting: // and half of a window at least: much hangs on it
		return int32(max(least, k.enough(), float64(k.noise/(2*steadyError*steadyError))))
	}
	return int32(max(least, min(k.noise/(steadyError*steadyError), max(float64(steadyTurns*k.level), 2*windowMin))))
}

// aLook is how many calls a look takes in the mean.
func (k *knee) aLook() float64 { return max(float64(lookTurns*k.level), 4*windowMin) }

// enough calls make the step that is looked at so many standard errors of the
// ratio of two means.
func (k *knee) enough() float64 {
	part := max(k.step-1, stepLeast)
	return float64(2*sure*sure*k.noise) / float64(part*part)
}

// look returns the step that can be told apart in a look of the usual length.
func (k *knee) look() float64 {
	n := k.aLook()
	part := float64(sure * math.Sqrt(2*k.noise/n))
	return 1 + min(max(part, stepLeast, 1/k.level), stepMost-1)
}

// judge ends a window.
func (k *knee) judge(now unit.Instant) {
	if w := &k.w; 2*w.drops > w.ended() {
		k.bleed(now)
		return
	}
	if k.w.n < windowMin/2 {
		k.begin(now, false)
		return
	}
	w := k.w
	seen := w.latency()
	k.noise += float64(0.2 * (min(max(w.variance(), 0.01), 9) - k.noise))
	k.turn = w.turn()
	k.stay = w.xx / w.x
	k.unsure = math.Sqrt(float64(k.noise * (1/float64(w.n) + 1/max(k.known(), 1))))
	before := k.level
	switch k.doing {
	case rising:
		k.risen(now, seen)
	case steady:
		k.follow(now, seen)
	case waiting:
		k.stood(now, seen)
	case cutting:
		k.wasCut(now, seen)
	case looking:
		k.looked(now, seen)
	}
	if ill := w.drops + w.failed; ill >= fewIll && 20*ill > w.ended() {
		k.set(min(k.level, float64(before*(1-float64(w.drops)/float64(w.ended())))))
	}
	k.usual = seen
	k.begin(now, k.level > float64(before*1.03) || k.level < float64(before*0.97))
}

// begin opens a window. Where the limit has moved it waits for the calls that
// began under the other one.
func (k *knee) begin(now unit.Instant, moved bool) {
	k.w = window{last: now, need: k.need()}
	k.clear()
	if moved {
		k.changed = now
		stays := settling
		if k.doing == rising && k.step >= footMost {
			stays = settlingLarge
		}
		k.settled = now.Add(time.Duration(min(float64(stays*k.stay), math.MaxInt64/4)))
	}
}

// bleed halves a limit under which most calls do not come back.
func (k *knee) bleed(now unit.Instant) {
	k.set(k.level / 2)
	k.doing, k.base, k.step = rising, 0, stepMost
	k.begin(now, false)
	k.changed, k.settled = now, now
}

// giveUp ends an experiment that nobody takes part in any more.
func (k *knee) giveUp(now unit.Instant) {
	if k.doing == looking || k.doing == cutting {
		k.set(max(k.level, k.base))
	}
	k.rest(now, upTurns)
	k.begin(now, false)
}

// binds reports whether the limit is in use.
func (k *knee) binds() bool { return k.w.inFlight() >= full*math.Floor(k.level) }

// rest goes back to following; a look higher that is due in more turns than so many
// is not that far away any more.
func (k *knee) rest(now unit.Instant, turns float64) {
	k.doing = steady
	k.smooth, k.calls, k.base = 0, 0, 0
	k.nextUp = min(k.nextUp, k.in(now, turns))
}

// learn moves the baselines to what a window measured in which nobody stood in a
// queue, each by its calls beside those that it rests on.
func (k *knee) learn(seen float64) { k.adopt(seen, 1, float64(k.w.n), k.off(seen, near), k.most()) }

// learnBoth moves them to what was measured at two levels, neither of which had one.
func (k *knee) learnBoth(seen float64) {
	n := float64(k.w.n)
	both := (float64(seen*n) + float64(k.baseLatency*k.baseCalls)) / (n + k.baseCalls)
	k.adopt(both, both/seen, n+k.baseCalls, k.off(both, near), k.most())
}

// most is how many calls the baselines rest on at most.
func (k *knee) most() float64 { return max(float64(memory*lookTurns*k.level), 16*windowMin) }

// off reports whether latency differs from the baseline by more than a part of it,
// and by more than chance does.
func (k *knee) off(seen, part float64) bool {
	return math.Abs(seen-1) > max(part, float64(surely*k.unsure))
}

// in returns the instant in so many turns, moved by up to a quarter.
func (k *knee) in(now unit.Instant, turns float64) unit.Instant {
	moved := 0.75 + float64(k.luck.Below(1024))/2048
	return now.Add(time.Duration(min(float64(float64(turns*k.turn)*moved), math.MaxInt64/4)))
}

// State returns what there is to see.
func (k *knee) State() State {
	s := State{
		Law: Knee, Limit: k.Limit(), FloorBinds: k.floor,
		Baseline: time.Duration(k.mean()), Doing: doingNames[k.doing],
	}
	if s.Baseline > 0 {
		s.Latency = k.usual
	}
	return s
}

// Export returns limit and baselines.
func (k *knee) Export() Measured {
	m := k.bounds.Export()
	if k.doing == looking || k.doing == cutting {
		m.Limit = max(m.Limit, k.base)
	}
	m.Baselines = k.routes.export()
	return m
}

// Import takes them over and goes on from there.
func (k *knee) Import(m Measured) {
	k.bounds.Import(m)
	k.routes.take(m.Baselines)
	k.turn = k.mean()
	k.stay = k.turn
	k.doing, k.base, k.step, k.proven = rising, 0, stepMost, 0
	k.fresh = k.turn == 0
	k.begin(0, false)
}
