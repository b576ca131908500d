package shed

import (
	"fmt"
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/spillway-dev/spillway/policy/chance"
	"github.com/spillway-dev/spillway/policy/unit"
)

// service is 64 slots of 8 ms in front of a queue without end, whose arrivals are
// spread evenly: the law alone keeps the queue short. slots may be changed.
type service struct {
	*Law
	now     unit.Instant
	slots   int
	holding time.Duration
	allowed time.Duration
	backlog float64 // requests
	asked   int64
	ask     func(i int64) Ask

	offered, full, longest float64
}

func newService(r Rule) *service {
	return &service{Law: New(r), slots: 64, holding: 8 * time.Millisecond, allowed: 42 * time.Millisecond,
		ask: func(i int64) Ask { return Ask{Gap: Gap(int64(chance.Place(7, uint64(i))))} }}
}

// offer plays a time with so many requests a second.
func (s *service) offer(perS float64, for_ time.Duration) {
	step := time.Duration(1e9 / perS)
	capacity := float64(s.slots) / s.holding.Seconds()
	s.offered, s.full, s.longest = 0, 0, 0
	for end := s.now.Add(for_); s.now < end; s.now = s.now.Add(step) {
		s.backlog = max(s.backlog-capacity*step.Seconds(), 0)
		if s.Due(s.now) {
			s.Look(s.now, Load{s.slots, s.holding, int(s.backlog), s.allowed})
		}
		a := s.ask(s.asked)
		s.asked++
		s.offered++
		if !s.Sheds(s.now, &a) {
			s.full++
			s.backlog++
		}
		s.longest = max(s.longest, s.backlog/capacity)
	}
}

func (s *service) shed() float64 { return 1 - s.full/s.offered }

// What does not fit is shed, and nothing else; the queue stays far below what is
// allowed.
func TestTheShareIsWhatDoesNotFit(t *testing.T) {
	for _, factor := range []float64{0.5, 0.9, 1, 1.1, 1.5, 2, 5} {
		t.Run(fmt.Sprint(factor), func(t *testing.T) {
			s := newService(Rule{})
			s.offer(8000*factor, 3*time.Second)
			s.offer(8000*factor, 10*time.Second)
			if ideal := max(1-1/factor, 0); math.Abs(s.shed()-ideal) > 0.003 {
				t.Errorf("%.2f %% were shed, want %.2f %%", 100*s.shed(), 100*ideal)
			}
			if s.longest > 0.021 {
				t.Errorf("the wait grew to %.1f ms, want half of the allowed 42 at the most", 1e3*s.longest)
			}
		})
	}
}

// The load jumps: nobody waits for longer than is allowed until the law has seen it.
func TestAJumpIsShedBeforeTheQueueIsTooLong(t *testing.T) {
	for _, factor := range []float64{1.5, 2, 5} {
		s := newService(Rule{})
		s.offer(4000, 10*time.Second)
		s.offer(8000*factor, time.Second)
		if s.longest > 0.042 {
			t.Errorf("%vx: the wait grew to %.1f ms of the allowed 42", factor, 1e3*s.longest)
		}
	}
}

// Who loses least is shed: below the cut everybody, above it nobody.
func TestTheLowestGapsAreShedFirst(t *testing.T) {
	s := newService(Rule{})
	shed, asked := [levels]int{}, [levels]int{}
	s.offer(12000, 5*time.Second)
	for i := range 24000 {
		a := s.ask(int64(i))
		a.Kept = i%100 == 0
		b := a.level()
		asked[b]++
		if s.Sheds(s.now, &a) {
			shed[b]++
		}
	}
	cut := s.cut.level
	if want := 1 + (Buckets-1)/3; cut < want-2 || cut > want+2 {
		t.Errorf("the cut goes through level %d of %d; a third of evenly spread gaps ends near %d", cut, levels, want)
	}
	for b := range asked {
		switch want := asked[b]; {
		case b < cut && shed[b] != want:
			t.Errorf("level %d, below the cut: %d of %d were shed", b, shed[b], want)
		case b > cut && shed[b] != 0:
			t.Errorf("level %d, above the cut: %d were shed", b, shed[b])
		case b == cut && (shed[b] == 0 || shed[b] == want):
			t.Errorf("level %d, the cut's: %d of %d were shed, want a part", b, shed[b], want)
		}
	}
}

// A service that slows down sheds more, one that recovers less: by its own measure
// of what a slot is held for.
func TestSlowServiceShedsMore(t *testing.T) {
	s := newService(Rule{})
	s.offer(6000, 5*time.Second)
	healthy := s.shed()
	s.holding *= 4 // 2000/s
	s.offer(6000, time.Second)
	s.offer(6000, 10*time.Second)
	if slow := s.shed(); healthy != 0 || math.Abs(slow-2.0/3) > 0.01 {
		t.Errorf("healthy it shed %.3f, slow %.3f; want 0 and 0.667", healthy, slow)
	}
	s.holding /= 4
	s.offer(6000, 20*time.Second)
	s.offer(6000, time.Second)
	if s.shed() != 0 {
		t.Errorf("recovered it sheds %.3f", s.shed())
	}
}

// As long as nobody knows how long a slot is held, nothing is shed.
func TestAnUnknownServiceShedsNothing(t *testing.T) {
	s := newService(Rule{})
	s.allowed = time.Hour
	now := unit.Instant(0)
	for i := range 100_000 {
		now = now.Add(10 * time.Microsecond)
		if s.Due(now) {
			s.Look(now, Load{Slots: 4, Waiting: i, AllowedWait: time.Second})
		}
		if a := s.ask(int64(i)); s.Sheds(now, &a) {
			t.Fatalf("request %d was shed", i)
		}
	}
}

// Whatever the load does, the share never falls faster than the rule says, from any
// look to any later one, and comes back to nothing.
func TestTheShareFallsInSteps(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := Rule{Release: rapid.IntRange(10_000, 500_000).Draw(t, "release")}
		s := newService(r)
		type seen struct {
			at    unit.Instant
			share float64
		}
		var all []seen
		look := func(perS float64, d time.Duration) {
			for end := s.now.Add(d); s.now < end; {
				s.offer(perS, 50*time.Millisecond)
				all = append(all, seen{s.at, s.share})
			}
		}
		for range rapid.IntRange(1, 5).Draw(t, "phases") {
			s.slots = rapid.IntRange(1, 128).Draw(t, "slots")
			look(float64(rapid.IntRange(100, 20_000).Draw(t, "rate")), time.Duration(rapid.IntRange(1, 20).Draw(t, "length"))*100*time.Millisecond)
		}
		for i := 1; i < len(all); i++ {
			a, b := all[i-1], all[i]
			if least := a.share - float64(r.Release)/1e6*b.at.Sub(a.at).Seconds() - 1e-9; b.share < least {
				t.Fatalf("from %v to %v the share fell from %.4f to %.4f, want at least %.4f", a.at, b.at, a.share, b.share, least)
			}
			if b.share < 0 || b.share > 1 {
				t.Fatalf("a share of %v", b.share)
			}
		}
		s.slots = 1 << 20
		s.offer(100, 110*time.Second)
		if s.Share() != 0 {
			t.Fatalf("long after the load the share is %d", s.Share())
		}
	})
}

// A dip of the load for less than a second gives little back, so that those who
// were shed before it are nearly those who are shed after it.
func TestADipBringsLittleBack(t *testing.T) {
	s := newService(Rule{})
	s.offer(12000, 5*time.Second)
	before := s.share
	s.offer(100, 300*time.Millisecond)
	if least := before - 0.1*0.3 - 0.001; s.share < least {
		t.Errorf("in a dip of 0.3 s the share fell from %.3f to %.3f, want at least %.3f", before, s.share, least)
	}
}

// After the load has ended everything is served in full within what the release
// allows, and the share has gone one way only.
func TestTheWayBackHasOneDirection(t *testing.T) {
	s := newService(Rule{})
	s.offer(12000, 10*time.Second)
	last := s.share
	for range 100 {
		s.offer(4000, 100*time.Millisecond)
		if s.share > last {
			t.Fatalf("the share rose from %.4f to %.4f on the way back", last, s.share)
		}
		last = s.share
	}
	if last != 0 {
		t.Errorf("10 s after the load the share is %.3f", last)
	}
}

func TestAShareOfABucketIsASliceOfSessions(t *testing.T) {
	s := newService(Rule{})
	s.ask = func(i int64) Ask { return Ask{Gap: 300_000, Session: 1 + uint64(i)} }
	s.offer(16000, 5*time.Second)
	s.offer(16000, 2*time.Second)
	if math.Abs(s.shed()-0.5) > 0.01 {
		t.Errorf("half does not fit; %.3f of the sessions were shed", s.shed())
	}
}

// Of a larger share nobody is served in full who was shed of a smaller one.
func TestSharesAreNested(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var d demand
		for i := range d.rate {
			d.rate[i] = rapid.Float64Range(0, 100).Draw(t, "rate")
			d.total += d.rate[i]
		}
		small := rapid.Float64Range(0, 1).Draw(t, "small")
		large := rapid.Float64Range(small, 1).Draw(t, "large")
		a, b := d.cut(small), d.cut(large)
		level, place := rapid.IntRange(0, levels-1).Draw(t, "level"), rapid.IntRange(0, chance.Whole-1).Draw(t, "place")
		sheds := func(c cut) bool { return level < c.level || level == c.level && place < c.part }
		if sheds(a) && !sheds(b) {
			t.Fatalf("level %d, place %d is shed at %v (%+v) and not at %v (%+v)", level, place, small, a, large, b)
		}
	})
}

func TestGapsAndBuckets(t *testing.T) {
	for _, c := range []struct {
		share  float64
		gap    Gap
		bucket int
	}{
		{-1, 0, 0}, {0, 0, 0}, {0.01, 10_000, 0}, {0.5, 500_000, 31}, {0.9999999, 1_000_000, 63}, {1, 1_000_000, 63},
		{7, 1_000_000, 63}, {math.Inf(1), Useless, 63}, {math.NaN(), Useless, 63}, {math.Inf(-1), 0, 0},
	} {
		if g := GapOf(c.share); g != c.gap || g.Bucket() != c.bucket {
			t.Errorf("a gap of %v is %d in bucket %d, want %d in %d", c.share, g, g.Bucket(), c.gap, c.bucket)
		}
	}
	for b := range Buckets {
		if g := LeastGap(b); g.Bucket() != b || b > 0 && (g-1).Bucket() != b-1 {
			t.Errorf("the least gap of bucket %d is said to be %d, in bucket %d; the one below lies in %d", b, g, g.Bucket(), (g - 1).Bucket())
		}
	}
	if Gap(math.MinInt32).Bucket() != 0 || Gap(math.MaxInt32).Bucket() != Buckets-1 {
		t.Error("a gap out of range counts as the nearer end")
	}
}
