package boundary

import (
	"math"
	"testing"
	"time"

	"github.com/spillway-dev/spillway/policy/chance"
	"github.com/spillway-dev/spillway/policy/pool"
	"github.com/spillway-dev/spillway/policy/reason"
	"github.com/spillway-dev/spillway/policy/shed"
	"github.com/spillway-dev/spillway/policy/unit"
)

// scorer is 64 slots of 8 ms that may keep nobody for more than 50 ms.
func scorer(rule *shed.Rule) Class {
	return Class{Name: "score", Deadline: 50 * ms, Shed: rule,
		Pool: pool.Config{Slots: 64, Latency: 50 * ms, Service: 8 * ms}}
}

// flood offers a scorer so many requests a second, at random, by sessions of some
// fifty requests each, and counts the answers.
type flood struct {
	*loop
	service time.Duration
	answers [reason.Count]int
	offered int
	late    int
	flips   int
	rungs   map[[2]uint64]bool // by stretch and bucket: was it shed
}

func newFlood(class Class) *flood {
	return &flood{loop: newLoop(Config{Seed: 3, Classes: []Class{class}}), service: 8 * ms, rungs: map[[2]uint64]bool{}}
}

func (f *flood) pour(perS float64, until time.Duration, seed uint64) {
	f.arrivals(perS, until, seed, func() {
		f.offered++
		dice := chance.New(uint64(f.offered) ^ seed<<32)
		who := uint64(dice.Below(400))
		part := uint64(f.now/unit.Instant(10*ms)+unit.Instant(who)) / 400 // each its own 4 s
		c := &call{service: f.service, request: Request{
			Session: 1 + who, Stretch: 1 + part<<20 + who, Gap: shed.Gap(dice.Below(int64(shed.Useless))),
		}}
		at := f.now
		c.answer = func(c *call, why reason.Reason, _ time.Duration) {
			f.answers[why]++
			if f.now.Sub(at) > 50*ms {
				f.late++
			}
			key := [2]uint64{c.request.Stretch, uint64(c.request.Gap.Bucket())}
			was, known := f.rungs[key]
			if known && was != (why != reason.Served) {
				f.flips++
			}
			f.rungs[key] = why != reason.Served
		}
		f.offer(c)
	})
}

func (f *flood) reset() {
	f.answers, f.offered, f.late, f.flips = [reason.Count]int{}, 0, 0, 0
	clear(f.rungs)
}

// What does not fit is shed before it waits; what fits is served, in time; nobody
// is refused for any other reason, and inside a stretch nobody is told now this and
// now that.
func TestWhatDoesNotFitIsShedAndNothingElse(t *testing.T) {
	for _, factor := range []float64{1.5, 2, 5} {
		f := newFlood(scorer(&shed.Rule{}))
		f.pour(8000*factor, 20*time.Second, 1)
		f.run(5 * time.Second)
		f.reset()
		f.run(20 * time.Second)
		served, all := f.answers[reason.Served], 15*8000
		if share := float64(served) / float64(all); share < 0.99 {
			t.Errorf("%vx: %.2f %% of what fits was served, want 99", factor, 100*share)
		}
		if other := f.offered - served - f.answers[reason.ShedForLoad]; math.Abs(float64(other)) > float64(f.offered)/1000 || f.late > 0 {
			t.Errorf("%vx: of %d, %d were served and %d shed: %v; %d late", factor, f.offered, served, f.answers[reason.ShedForLoad], f.answers, f.late)
		}
		if f.flips > f.offered/1000 {
			t.Errorf("%vx: %d of %d requests were answered otherwise than the one before in their stretch", factor, f.flips, f.offered)
		}
		t.Logf("%vx: %d served, %d shed, %d flips", factor, served, f.answers[reason.ShedForLoad], f.flips)
	}
}

// The law is asked before feasibility and the waiting room: without it the same load
// is refused there, for want of time or room.
func TestTheLawComesBeforeFeasibilityAndTheRoom(t *testing.T) {
	f := newFlood(scorer(nil))
	f.pour(16000, 3*time.Second, 1)
	f.run(3 * time.Second)
	if f.answers[reason.ShedForLoad] > 0 || f.answers[reason.Infeasible]+f.answers[reason.QueueFull] < f.offered/3 {
		t.Errorf("without a law: %v", f.answers)
	}
}

// A service that takes longer than the budget says: what then does not fit is still the
// law's to choose. Feasibility, which takes whoever comes, has nothing left to refuse once
// the slower calls have been measured.
func TestWhatAServiceThatSlowedDownCannotDoIsShed(t *testing.T) {
	for _, slower := range []time.Duration{16 * ms, 24 * ms} {
		f := newFlood(scorer(&shed.Rule{}))
		f.pour(12000, 10*time.Second, 1)
		f.run(3 * time.Second)
		f.service = slower
		f.run(5 * time.Second)
		f.reset()
		f.run(10 * time.Second)
		fits := f.offered * int(8*ms) * 2 / 3 / int(slower)
		byChance := f.answers[reason.Infeasible] + f.answers[reason.QueueFull] + f.answers[reason.Expired] + f.answers[reason.Timeout]
		if byChance > f.offered/200 || f.answers[reason.Served] < fits*97/100 || f.late > 0 {
			t.Errorf("%v a call: of %d, of which %d fit: %v, %d late", slower, f.offered, fits, f.answers, f.late)
		}
	}
}

// Cases D7: a class that may borrow what is idle sheds nothing as long as it is; when
// its neighbour wants it back the law sheds what then does not fit.
func TestAClassThatBorrowsShedsNothingWhileSlotsAreIdle(t *testing.T) {
	class := scorer(&shed.Rule{})
	class.Pool.Slots, class.Pool.Borrow = 16, 48
	f := newFlood(class)
	cfg := Config{Seed: 3, Classes: []Class{class, {Name: "other", Pool: pool.Config{Slots: 48}}}}
	f.loop = newLoop(cfg)
	f.pour(7000, 6*time.Second, 1)
	f.run(3 * time.Second)
	if n := f.answers[reason.ShedForLoad]; n > 0 {
		t.Errorf("%d of %d were shed beside idle slots", n, f.offered)
	}
	f.reset()
	for range 48 {
		f.offer(&call{service: time.Minute, request: Request{Class: 1}, answer: func(*call, reason.Reason, time.Duration) {}})
	}
	f.run(4 * time.Second)
	f.reset()
	f.run(6 * time.Second)
	if share := float64(f.answers[reason.Served]) / 4000; share < 0.95 || share > 1.01 {
		t.Errorf("with its own slots alone %.3f of what they can do was served: %v", share, f.answers)
	}
}

// Cases C3: twice what fits, deadlines of three times the service. Good work stays
// above 85 % of the capacity, nearly none is for callers who have gone.
func TestGoodWorkUnderTwiceTheLoadWithALaw(t *testing.T) {
	class := Class{Name: "app", Deadline: 300 * ms, Shed: &shed.Rule{}, Pool: pool.Config{Slots: 10, Latency: 300 * ms, Service: 100 * ms}}
	f := newFlood(class)
	good := 0
	f.arrivals(200, 60*time.Second, 5, func() {
		f.offered++
		c := &call{service: 100 * ms, request: Request{Session: uint64(f.offered%400) + 1, Gap: 300_000}}
		c.answer = func(_ *call, why reason.Reason, _ time.Duration) {
			if why == reason.Served {
				good++
			}
		}
		f.offer(c)
	})
	f.run(60 * time.Second)
	if share := float64(good) / 6000; share < 0.9 {
		t.Errorf("goodput is %.1f %% of the capacity", 100*share)
	}
	if f.expiredWork > f.work/50 {
		t.Errorf("%v of %v of work was for callers who had gone", f.expiredWork, f.work)
	}
}

// Cases C2 with a law: ten clients that send again as soon as they are answered by the
// service, a tenth of a second after a cheaper answer; two slots, five seconds of work,
// newest first. Every request is answered before its deadline, nearly all slots are used,
// and over five minutes the clients are served alike.
func TestALawStarvesNoClosedLoop(t *testing.T) {
	for _, order := range []pool.Order{pool.LIFO, pool.Adaptive} {
		l := newLoop(Config{Seed: 3, Classes: []Class{{Name: "app", Deadline: 30 * time.Second, Shed: &shed.Rule{}, Pool: pool.Config{
			Slots: 2, Latency: 10 * time.Second, Bound: 20, Order: order, MaxAge: 20 * time.Second,
		}}}})
		var served [10]float64
		shedded, all := 0, 0.0
		for i := range served {
			c := &call{service: 5 * time.Second}
			c.answer = func(c *call, why reason.Reason, _ time.Duration) {
				if waited := l.now.Sub(c.offered); waited > 30*time.Second {
					t.Errorf("%v: answered %v after %v", order, why, waited)
				}
				again := 100 * ms
				switch why {
				case reason.Served:
					served[i]++
					all++
					again = 0
				case reason.ShedForLoad:
					shedded++
				}
				l.at(l.now.Add(again), func() { l.offer(c) })
			}
			l.at(unit.Instant(i)*unit.Instant(ms), func() { l.offer(c) })
		}
		l.run(5 * minute)
		for i, c := range l.calls {
			if waited := l.now.Sub(c.offered); waited > 30*time.Second {
				t.Errorf("%v: %v still waits after %v", order, i, waited)
			}
		}
		if j := jain(served[:]); j < 0.8 || all < 0.95*2*300/5 || shedded == 0 {
			t.Errorf("%v: served %v, Jain %.2f, %d shed", order, served, j, shedded)
		}
	}
}

// Cases K3 of the core: of two classes at twice their load, each with its own law, the
// one that is told a gap of nothing loses nothing of what the other is told.
func TestEachClassShedsByItsOwnLaw(t *testing.T) {
	high, low := scorer(&shed.Rule{}), scorer(&shed.Rule{})
	high.Name, low.Name = "high", "low"
	high.Pool.Slots, low.Pool.Slots = 48, 16
	f := newFlood(high)
	f.loop = newLoop(Config{Seed: 3, Classes: []Class{high, low}})
	shedBy := [2]int{}
	for class, perS := range []float64{3000, 5000} { // of 6000 and 2000
		f.arrivals(perS, 10*time.Second, uint64(class+1), func() {
			c := &call{service: 8 * ms, request: Request{Class: class, Gap: shed.Useless}}
			c.answer = func(_ *call, why reason.Reason, _ time.Duration) {
				if why == reason.ShedForLoad {
					shedBy[class]++
				}
			}
			f.offer(c)
		})
	}
	f.run(10 * time.Second)
	if shedBy[0] != 0 || math.Abs(float64(shedBy[1])-30000) > 1500 {
		t.Errorf("of the class below its capacity %d were shed, of the other %d; want none and 30000", shedBy[0], shedBy[1])
	}
}

// A reload keeps the law's state; a rule that is taken away ends it, and one that is
// new begins with nothing.
func TestAReloadKeepsTheLaw(t *testing.T) {
	f := newFlood(scorer(&shed.Rule{}))
	f.pour(16000, 10*time.Second, 1)
	f.run(5 * time.Second)
	before := f.machine.Class(0).Shed.Share
	reload := func(rule *shed.Rule) {
		if err := f.machine.Reconfigure(f.now, Config{Strict: true, Classes: []Class{scorer(rule)}}, &f.out); err != nil {
			t.Fatal(err)
		}
	}
	reload(&shed.Rule{Release: 10_000})
	if after := f.machine.Class(0).Shed; after == nil || after.Share != before || before < 450_000 {
		t.Errorf("before the reload %d millionths were shed, after it %+v", before, after)
	}
	f.reset()
	f.run(5100 * ms)
	if share := float64(f.answers[reason.ShedForLoad]) / float64(f.offered); math.Abs(share-0.5) > 0.05 {
		t.Errorf("in the 0.1 s after the reload %.2f were shed, want half", share)
	}
	reload(nil)
	if f.machine.Class(0).Shed != nil {
		t.Error("the law stays without a rule")
	}
	reload(&shed.Rule{})
	if s := f.machine.Class(0).Shed; s == nil || s.Share != 0 {
		t.Errorf("a new law begins with %+v", s)
	}
}

// Another machine that is told what this one remembers sheds from its first request.
func TestALawIsHandedOn(t *testing.T) {
	f := newFlood(scorer(&shed.Rule{}))
	f.pour(16000, 5*time.Second, 1)
	f.run(5 * time.Second)
	next := must(New(Config{Strict: true, Classes: []Class{scorer(&shed.Rule{})}}))
	next.Import(0, f.machine.Export(f.now, 0), &f.out)
	if a, b := f.machine.Class(0).Shed, next.Class(0).Shed; a.Share != b.Share || a.DemandPerS != b.DemandPerS || a.Gap != b.Gap {
		t.Errorf("it knew %+v, the next one %+v", a, b)
	}
	if v := next.Offer(1, &Request{Gap: 0}, &f.out); v.Reason != reason.ShedForLoad {
		t.Errorf("its first request of no gap: %v", v)
	}
}

// In shadow what the law would shed is counted, and everybody runs.
func TestALawInShadow(t *testing.T) {
	class := scorer(&shed.Rule{})
	class.Mode = Mode{Kind: Shadow}
	f := newFlood(class)
	f.pour(12000, 5*time.Second, 1)
	f.run(5 * time.Second)
	s := f.machine.Class(0)
	would := float64(s.Shadow.Tally.Answered[reason.ShedForLoad]) / float64(s.Shadow.Tally.Offered)
	if f.answers[reason.ShedForLoad] != 0 || math.Abs(would-1.0/3) > 0.03 {
		t.Errorf("really %d were shed; %.3f would have been, want a third", f.answers[reason.ShedForLoad], would)
	}
}

func BenchmarkShed(b *testing.B) {
	m := must(New(Config{Classes: []Class{scorer(&shed.Rule{})}}))
	var out Effects
	now, n := unit.Instant(0), 0
	r := Request{Session: 1}
	b.ReportAllocs()
	for i := range b.N {
		now = now.Add(20 * time.Microsecond)
		out.Reset()
		r.Session, r.Gap = uint64(i%1000)+1, shed.Gap(i%1000)*1000
		if v := m.Offer(now, &r, &out); v.Kind == Refuse {
			n++
		} else if v.Kind == Run {
			m.Done(now, v.Ticket, Outcome{Reason: reason.Served}, &out)
		}
	}
	_ = n
}

// Nobody in a class with a law is refused by rote: whoever finds the room full is
// demand all the same, or the law would believe that the load is over.
func TestWhoFindsTheRoomFullIsDemand(t *testing.T) {
	m := must(New(Config{Strict: true, Classes: []Class{{
		Name: "app", Deadline: time.Hour, DeadlineMax: time.Hour, Shed: &shed.Rule{}, Pool: pool.Config{Slots: 1, Bound: 1},
	}}}))
	var out Effects
	now := unit.Instant(0)
	for range 3000 {
		now = now.Add(ms)
		m.Offer(now, &Request{}, &out)
	}
	s := m.Class(0)
	if s.Tally.Answered[reason.QueueFull] != 2998 || math.Abs(s.Shed.DemandPerS-1000) > 20 {
		t.Errorf("%d found the room full; a demand of %.0f/s, want 1000", s.Tally.Answered[reason.QueueFull], s.Shed.DemandPerS)
	}
}
