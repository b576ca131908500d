package boundary

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/spillway-dev/spillway/policy/chance"
	"github.com/spillway-dev/spillway/policy/fair"
	"github.com/spillway-dev/spillway/policy/pool"
	"github.com/spillway-dev/spillway/policy/reason"
	"github.com/spillway-dev/spillway/policy/unit"
)

const (
	ms     = time.Millisecond
	minute = time.Minute
)

// arrivals has f happen rate times a second on average, at random instants.
func (l *loop) arrivals(rate float64, until time.Duration, seed uint64, f func()) {
	dice := chance.New(seed)
	var next func()
	schedule := func() {
		// A geometric gap on a grid of a hundredth of the mean: near enough to
		// exponential, without a logarithm.
		grid := time.Duration(float64(time.Second) / rate / 100)
		gap := grid
		for dice.Below(100) != 0 {
			gap += grid
		}
		if at := l.now.Add(gap); at < unit.Instant(until) {
			l.at(at, next)
		}
	}
	next = func() { f(); schedule() }
	schedule()
}

// Cases C2: ten clients that send again as soon as they are answered, two slots,
// five seconds of work, newest first. Nobody is left waiting: each is answered
// before its deadline, and over five minutes they are served alike.
func TestNewestFirstStarvesNoClosedLoop(t *testing.T) {
	for _, order := range []pool.Order{pool.LIFO, pool.Adaptive} {
		l := newLoop(Config{Classes: []Class{{Name: "app", Deadline: 30 * time.Second, Pool: pool.Config{
			Slots: 2, Latency: 10 * time.Second, Bound: 20, Order: order, MaxAge: 20 * time.Second,
		}}}})
		var served [10]float64
		for i := range served {
			c := &call{service: 5 * time.Second}
			c.answer = func(c *call, why reason.Reason, _ time.Duration) {
				if waited := l.now.Sub(c.offered); waited > 30*time.Second {
					t.Errorf("%v: answered %v after %v", order, why, waited)
				}
				if why == reason.Served {
					served[i]++
				}
				l.offer(c)
			}
			l.at(unit.Instant(i)*unit.Instant(ms), func() { l.offer(c) })
		}
		l.run(5 * minute)
		for i, c := range l.calls {
			if waited := l.now.Sub(c.offered); waited > 30*time.Second {
				t.Errorf("%v: %v still waits after %v", order, i, waited)
			}
		}
		if j := jain(served[:]); j < 0.8 {
			t.Errorf("%v: served %v, Jain %.2f", order, served, j)
		}
	}
}

func jain(x []float64) float64 {
	var sum, squares float64
	for _, v := range x {
		sum += v
		squares += float64(v * v)
	}
	return sum * sum / (float64(len(x)) * squares)
}

// Cases C3: offered twice what can be served, with deadlines three times the
// service time, for a minute: at least 85 % of capacity is answered in time, and
// less than 2 % of the work is for nobody.
func TestDeadlinesUnderOverload(t *testing.T) {
	const slots, service = 10, 100 * ms
	for _, c := range []struct {
		name  string
		order pool.Order
		vary  time.Duration // service is uniform, +- vary
	}{
		{"constant, adaptive", pool.Adaptive, 0},
		{"constant, fifo", pool.FIFO, 0},
		{"constant, lifo", pool.LIFO, 0},
		{"varied, adaptive", pool.Adaptive, 20 * ms},
		{"varied, fifo", pool.FIFO, 20 * ms},
	} {
		for _, deadline := range []time.Duration{3 * service, 2 * service} {
			l := newLoop(Config{Classes: []Class{{Name: "app", Deadline: deadline, Pool: pool.Config{
				Slots: slots, Latency: deadline, Order: c.order, MemoryLimit: 1 << 20, PerRequest: 1 << 10,
			}}}})
			good := 0
			dice := chance.New(5)
			l.arrivals(2*float64(slots)/service.Seconds(), minute, 3, func() {
				d := service - c.vary + time.Duration(dice.Below(2*int64(c.vary)+1))
				l.offer(&call{service: d, answer: func(_ *call, why reason.Reason, _ time.Duration) {
					if why == reason.Served {
						good++
					}
				}})
			})
			l.run(2 * minute)
			capacity := float64(slots) / service.Seconds() * 60
			if share := float64(good) / capacity; share < 0.85 {
				t.Errorf("%s, deadline %v: goodput is %.3f of capacity", c.name, deadline, share)
			}
			if wasted := float64(l.expiredWork) / float64(l.work); wasted >= 0.02 {
				t.Errorf("%s, deadline %v: %.3f of the work is for nobody", c.name, deadline, wasted)
			}
			if err := l.machine.Check(); err != nil {
				t.Error(err)
			}
		}
	}
}

// Cases E1: 5,000 clients that ask for three times what can be served and come
// back when they are told to. After a minute they offer less than one and a half
// times what can be served; hints stay within the cap, grow with the load, and
// differ enough that nobody comes back in step.
func TestClientsThatObeySettle(t *testing.T) {
	const capacity, clients = 500.0, 5000
	mean := map[float64]float64{}
	for _, load := range []float64{1.5, 3} {
		l := newLoop(Config{Seed: 7, Classes: []Class{{Name: "app", Deadline: 2 * time.Second, Pool: pool.Config{
			Slots: 50, Latency: 500 * ms, MemoryLimit: 1 << 20, PerRequest: 1 << 10,
		}}}})
		think := time.Duration(clients / (load * capacity) * float64(time.Second))
		dice := chance.New(11)
		offered, hints, hinted := 0, time.Duration(0), 0
		distinct := map[int]map[int]bool{}
		for range clients {
			c := &call{service: 100 * ms}
			offer := func() {
				if l.now >= unit.Instant(minute) {
					offered++
				}
				l.offer(c)
			}
			c.answer = func(_ *call, why reason.Reason, retryAfter time.Duration) {
				if why == reason.Served {
					l.at(l.now.Add(time.Duration(dice.Below(2*int64(think)))), offer)
					return
				}
				if retryAfter <= 0 || retryAfter > RetryAfterMaxDefault {
					t.Fatalf("told to come back after %v", retryAfter)
				}
				header := max(1, int(math.Ceil(retryAfter.Seconds())))
				if l.now >= unit.Instant(minute) {
					hints += retryAfter
					hinted++
					second := int(time.Duration(l.now) / time.Second)
					if distinct[second] == nil {
						distinct[second] = map[int]bool{}
					}
					distinct[second][header] = true
				}
				l.at(l.now.Add(retryAfter), offer)
			}
			l.at(unit.Instant(dice.Below(int64(think))), offer)
		}
		l.run(2 * minute)
		ratio := float64(offered) / 60 / capacity
		mean[load] = hints.Seconds() / float64(max(hinted, 1))
		fewest := math.MaxInt
		for _, d := range distinct {
			fewest = min(fewest, len(d))
		}
		t.Logf("load %v: offered %.2f of capacity in the second minute, hints of %.1f s on average, at least %d different a second", load, ratio, mean[load], fewest)
		if ratio >= 1.5 {
			t.Errorf("load %v: the second minute offers %.2f times the capacity", load, ratio)
		}
		if load == 3 && fewest < 5 {
			t.Errorf("load %v: a second with only %d different values", load, fewest)
		}
	}
	if mean[3] <= mean[1.5] {
		t.Errorf("hints do not grow with the load: %v", mean)
	}
}

// Cases B5 and K4: a deadline of 50 ms, work of a second that nobody cancels,
// two slots, ten calls one after the other: never more than two at work.
func TestWorkThatGoesOnStillCounts(t *testing.T) {
	l := newLoop(Config{Classes: []Class{{Name: "app", Deadline: 50 * ms, Pool: pool.Config{Slots: 2, Latency: time.Second, Bound: 2}}}})
	answers := map[reason.Reason]int{}
	c := &call{service: time.Second}
	c.answer = func(c *call, why reason.Reason, _ time.Duration) {
		if took := l.now.Sub(c.offered); took > 50*ms {
			t.Errorf("answered %v after %v", why, took)
		}
		if answers[why]++; l.machine.Class(0).Tally.Offered < 10 {
			l.offer(&call{service: time.Second, answer: c.answer})
		}
	}
	l.offer(c)
	l.run(10 * time.Second)
	if l.runningMax != 2 {
		t.Errorf("%d at work at once", l.runningMax)
	}
	state := l.machine.Class(0)
	if n := state.Tally.Total(); n != 10 {
		t.Errorf("%d of 10 answered: %v", n, answers)
	}
	if state.Used != 0 {
		t.Errorf("%d slots are held when all work has ended", state.Used)
	}
}

// Cases D5 and D7: all load is low's, which may use all but nothing that high is
// using. When high arrives, it has its guaranteed share within one service time.
func TestBorrowedSlotsComeBack(t *testing.T) {
	const service = 100 * ms
	l := newLoop(Config{Classes: []Class{
		{Name: "high", Pool: pool.Config{Slots: 6, Latency: time.Second, Bound: 100}},
		{Name: "low", Deadline: time.Second, Pool: pool.Config{Slots: 4, Borrow: 5, Latency: time.Second, Bound: 100}},
	}})
	l.arrivals(1000, 10*time.Second, 1, func() { l.offer(&call{request: Request{Class: 1}, service: service}) })
	l.run(5 * time.Second)
	if used := l.machine.Class(1).Used; used != 9 {
		t.Errorf("alone, low uses %d slots; it may use 4 and 5 borrowed", used)
	}
	worst := time.Duration(0)
	for range 6 {
		c := &call{service: time.Second, request: Request{Deadline: l.now.Add(minute)}}
		c.answer = func(c *call, why reason.Reason, _ time.Duration) {
			if why != reason.Served {
				t.Errorf("high: %v", why)
			}
			worst = max(worst, l.now.Sub(c.offered)-c.service)
		}
		l.offer(c)
	}
	l.run(5*time.Second + service)
	if used := l.machine.Class(0).Used; used != 6 {
		t.Errorf("one service time after it arrived, high has %d of its 6 slots", used)
	}
	l.run(10 * time.Second)
	if worst > service {
		t.Errorf("high waited %v for a slot of its own", worst)
	}
}

// A slow hour: calls take three seconds instead of ten milliseconds, far beyond
// every deadline. When it is over, the boundary finds out by itself, soon, and
// serves at full capacity again.
func TestASlowHourIsNotRemembered(t *testing.T) {
	for _, slots := range []int{1, 2, 8} {
		l := newLoop(Config{Classes: []Class{{Name: "app", Deadline: time.Second, Pool: pool.Config{
			Slots: slots, Latency: time.Second, MemoryLimit: 1 << 20, PerRequest: 1 << 10,
		}}}})
		service := 3 * time.Second
		offered, good := 0, 0
		rate := float64(slots) / 0.010 * 0.8
		hour := 30 * minute
		l.arrivals(rate, hour+minute, 9, func() {
			offered++
			l.offer(&call{service: service, answer: func(c *call, why reason.Reason, _ time.Duration) {
				if why == reason.Served {
					good++
				}
			}})
		})
		l.run(hour)
		service = 10 * ms
		// What is still at work from the slow hour ends within three seconds, and
		// the mean holding time, which sizes the room, has 400 calls to follow.
		l.run(hour + 8*time.Second)
		offered, good = 0, 0
		l.run(hour + 12*time.Second)
		if float64(good) < 0.95*float64(offered) {
			t.Errorf("%d slots: %d of %d served in four seconds after the slow hour", slots, good, offered)
		}
	}
}

// Whatever the policy, no tenant that waits is forgotten by the schedule while
// others flood: each is served in its turn.
func TestNobodyStarves(t *testing.T) {
	for _, policy := range []fair.Policy{fair.RR, fair.WRR, fair.DRR} {
		l := newLoop(Config{Classes: []Class{{Name: "app", Deadline: 10 * time.Second, Pool: pool.Config{
			Slots: 4, Latency: 5 * time.Second, Bound: 100,
			Tenants: pool.TenantConfig{Policy: policy, Queue: 20, Weights: map[string]int{"flood": 3}},
		}}}})
		for i := range 3 {
			l.arrivals(200, 20*time.Second, uint64(i), func() {
				l.offer(&call{request: Request{Tenant: fmt.Sprintf("flood%d", i), Cost: 1 << 40}, service: 50 * ms})
			})
		}
		worst, served := time.Duration(0), 0
		quiet := func() {
			l.offer(&call{request: Request{Tenant: "quiet", Cost: 1}, service: 50 * ms, answer: func(c *call, why reason.Reason, _ time.Duration) {
				if why == reason.Served {
					served++
				}
				worst = max(worst, l.now.Sub(c.offered))
			}})
		}
		l.arrivals(5, 20*time.Second, 77, quiet)
		l.run(30 * time.Second)
		if offered := offeredBy(l.machine, "quiet"); int64(served) != offered || worst > 300*ms {
			t.Errorf("%v: quiet offered %d, was served %d times, the slowest in %v", policy, offered, served, worst)
		}
	}
}

func offeredBy(m *Machine, name string) int64 {
	known, _ := m.Tenants(0)
	for _, k := range known {
		if k.Name == name {
			return k.Tally.Offered
		}
	}
	return 0
}

// Without the feasibility check, in a room four times too large, offered twice
// what it can do by callers who leave at the budget: oldest first serves nobody in
// time. Adaptive order finds out by the time that the oldest has left, and keeps
// nine tenths of the capacity.
func TestAdaptiveOrderTurnsWhereTheDeadlineComesFirst(t *testing.T) {
	good := func(order pool.Order) (inTime int) {
		l := newLoop(Config{Classes: []Class{{Name: "app", Deadline: 300 * ms, AdmitHopeless: true, Pool: pool.Config{
			Slots: 40, Latency: 300 * ms, Service: 100 * ms, Bound: 320, Order: order,
		}}}})
		l.arrivals(800, 20*time.Second, 5, func() {
			l.offer(&call{service: 100 * ms, answer: func(_ *call, why reason.Reason, _ time.Duration) {
				if why == reason.Served {
					inTime++
				}
			}})
		})
		l.run(21 * time.Second)
		return inTime
	}
	const capacity = 400 * 20
	if n := good(pool.FIFO); n > capacity/10 {
		t.Errorf("oldest first: %d of %d were answered in time; there is nothing to turn around for", n, capacity)
	}
	if n := good(pool.Adaptive); n < capacity*9/10 {
		t.Errorf("adaptive: %d of %d were answered in time", n, capacity)
	}
}
