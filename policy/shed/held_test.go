package shed

import (
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/spillway-dev/spillway/policy/chance"
	"github.com/spillway-dev/spillway/policy/unit"
)

// at returns a law that sheds that share of evenly spread gaps, and stays so.
func at(share float64, r Rule) *Law {
	l := New(r)
	l.at = 1
	for i := range l.demand.rate {
		l.demand.rate[i] = 100
		l.demand.total += 100
	}
	l.set(share, 0)
	return l
}

func (l *Law) set(share, urgency float64) {
	l.share = share
	l.cut, l.must = l.demand.cut(share), l.demand.cut(share*urgency)
}

// Inside a stretch requests with one gap are answered alike, whatever the share
// does meanwhile; where the next begins the share of then decides.
func TestADecisionHoldsForItsStretch(t *testing.T) {
	l := at(0.3, Rule{})
	low, high := Ask{Gap: 10_000, Session: 1, Stretch: 1}, Ask{Gap: 500_000, Session: 1, Stretch: 1}
	ask := func(a Ask) bool { return l.Sheds(unit.Instant(time.Second), &a) }
	if !ask(low) || ask(high) {
		t.Fatal("of evenly spread gaps a third is shed, from the low end")
	}
	l.set(0.9, 0)
	if ask(high) {
		t.Error("the share rose: the gap that was served in full is shed inside its stretch")
	}
	l.set(0, 0)
	if !ask(low) {
		t.Error("the share fell to nothing: the gap that was shed is served in full inside its stretch")
	}
	l.set(0.9, 0)
	high.Stretch, low.Stretch = 2, 2
	if !ask(high) {
		t.Error("a new stretch is decided by the old share")
	}
	l.set(0, 0)
	high.Stretch = 3
	if ask(high) {
		t.Error("nothing is shed, and a new stretch was")
	}
}

// Without stretches a session is moved once in a span, each at an instant of its own.
func TestADecisionHoldsForItsSpan(t *testing.T) {
	l := at(0.9, Rule{Span: 10 * time.Second})
	begin := unit.Instant(time.Hour)
	const sessions = 1000
	for s := range uint64(sessions) {
		if !l.Sheds(begin, &Ask{Gap: 300_000, Session: s + 1}) {
			t.Fatal("it was not shed")
		}
	}
	l.set(0.01, 0)
	back := func(after time.Duration) (n int) {
		for s := range uint64(sessions) {
			if !l.Sheds(begin.Add(after), &Ask{Gap: 300_000, Session: s + 1}) {
				n++
			}
		}
		return n
	}
	for second := time.Duration(1); second <= 10; second++ {
		if n, want := back(second*time.Second), int(second)*sessions/10; n < want-40 || n > want+40 {
			t.Errorf("%d s later %d of %d were moved, want about %d", second, n, sessions, want)
		}
	}
	if n := back(10100 * time.Millisecond); n != sessions {
		t.Errorf("after the span %d of %d were moved", n, sessions)
	}
}

// Held decisions are broken, from the lowest gap on, where those served in full would
// be late; what was shed stays shed.
func TestALongQueueBreaksDecisions(t *testing.T) {
	l := at(0.0001, Rule{})
	low, high := Ask{Gap: 100_000, Session: 1, Stretch: 1}, Ask{Gap: 700_000, Session: 1, Stretch: 1}
	ask := func(a Ask) bool { return l.Sheds(unit.Instant(time.Second), &a) }
	if ask(low) || ask(high) {
		t.Fatal("hardly anything is shed")
	}
	l.set(0.5, 0)
	if ask(low) || ask(high) {
		t.Fatal("the queue is short, and a decision was broken")
	}
	l.set(0.5, 1)
	if !ask(low) || ask(high) {
		t.Error("the queue is long: half is to be shed, the low gap and not the high one")
	}
	l.set(0.5, 0)
	if !ask(low) {
		t.Error("what was broken is held as shed")
	}
}

// Whatever the share and the queue do, in any order: inside a stretch nobody is
// served in full who loses less by it than somebody shed before (unless it was the
// same who came back up: never), and who was shed once stays shed.
func TestNobodyComesBackUpInsideAStretch(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := at(0.5, Rule{})
		now := unit.Instant(time.Second)
		highest := -1 // level shed so far
		for range rapid.IntRange(1, 60).Draw(t, "requests") {
			l.set(rapid.Float64Range(0, 1).Draw(t, "share"), rapid.SampledFrom([]float64{0, 0, 0, 0.5, 1}).Draw(t, "urgency"))
			now = now.Add(50 * time.Millisecond)
			a := Ask{Gap: Gap(rapid.IntRange(0, int(Useless)).Draw(t, "gap")), Session: 77, Stretch: 3}
			shed := l.Sheds(now, &a)
			if !shed && a.level() <= highest {
				t.Fatalf("level %d is served in full, level %d was shed", a.level(), highest)
			}
			if shed {
				highest = max(highest, a.level())
			}
		}
	})
}

// Sessions without number: those that are held are as many as the rule says, the
// memory stays what it was, and who finds no room is decided as if nothing were held.
func TestTenMillionSessionsTakeTheMemoryOfSome(t *testing.T) {
	l := at(0.3, Rule{Sessions: 1 << 12})
	now := unit.Instant(time.Second)
	n, session := 0, uint64(0)
	sessions := 10_000_000
	if testing.Short() {
		sessions = 100_000
	}
	next := func() {
		session++
		a := Ask{Gap: 300_000, Session: session}
		if l.Sheds(now, &a) {
			n++
		}
	}
	next()
	if got := len(l.held.sets) * ways; got != 1<<12 {
		t.Fatalf("room for %d sessions, want %d", got, 1<<12)
	}
	if allocs := testing.AllocsPerRun(sessions-2, next); allocs != 0 {
		t.Errorf("%v allocations a request", allocs)
	}
	want := 0.0
	if c := l.cut; c.level == 1+Gap(300_000).Bucket() {
		want = float64(c.part) / chance.Whole
	} else {
		t.Fatalf("the cut goes through level %d, the test is about %d", c.level, 1+Gap(300_000).Bucket())
	}
	if got := float64(n) / float64(sessions); math.Abs(got-want) > 0.01 {
		t.Errorf("%.3f of the sessions were shed, want %.3f", got, want)
	}
}

// It is not always the same who are shed: in the time of a redeal everybody gets a
// new place, and at no moment many at once.
func TestPlacesAreDealtAnewOneByOne(t *testing.T) {
	l := New(Rule{Redeal: 10 * time.Minute})
	const sessions = 10_000
	last := make([]int, sessions)
	moved := make([]int, sessions)
	for minute := range 31 {
		changed := 0
		for s := range last {
			p := l.place(unit.Instant(minute)*unit.Instant(time.Minute), chance.Mix(uint64(s)))
			if minute > 0 && p != last[s] {
				changed++
				moved[s]++
			}
			last[s] = p
		}
		if minute > 0 && (changed < sessions/12 || changed > sessions/8) {
			t.Errorf("in minute %d %d of %d places were dealt anew, want a tenth", minute, changed, sessions)
		}
	}
	for s, n := range moved {
		if n != 3 {
			t.Fatalf("session %d was dealt a new place %d times in three redeals", s, n)
		}
	}
}

// What is kept is shed before everything else, and says nothing about the rest of
// its session.
func TestWhatIsKeptIsShedFirst(t *testing.T) {
	l := at(0.015, Rule{}) // just what is kept: one of 65 equal levels
	now := unit.Instant(time.Second)
	kept, other := Ask{Gap: 900_000, Kept: true, Session: 4}, Ask{Gap: 0, Session: 4}
	shed := 0
	for s := range uint64(1000) {
		kept.Session, other.Session = s+1, s+1
		if l.Sheds(now, &kept) {
			shed++
		}
		if l.Sheds(now, &other) {
			t.Fatal("something was shed that is not kept")
		}
	}
	if shed < 900 {
		t.Errorf("%d of 1000 kept answers were shed", shed)
	}
}

// Requests without sessions are spread evenly: of any hundred in a row the right
// number is shed, give or take one or two.
func TestRequestsWithoutSessionsAreSpreadEvenly(t *testing.T) {
	l := at(0.5, Rule{})
	a := Ask{Gap: 500_000}
	want := float64(l.cut.part) / chance.Whole
	if l.cut.level != a.level() {
		t.Fatalf("the cut goes through %d, want %d", l.cut.level, a.level())
	}
	for range 50 {
		n := 0
		for range 100 {
			if l.Sheds(unit.Instant(time.Second), &a) {
				n++
			}
		}
		if math.Abs(float64(n)-100*want) > 2.5 {
			t.Errorf("%d of 100 were shed, want %.0f", n, 100*want)
		}
	}
}

// A new rule changes neither the share nor, unless their number changes, what is
// held.
func TestANewRuleKeepsWhatIsHeld(t *testing.T) {
	l := at(0.9, Rule{})
	a := Ask{Gap: 300_000, Session: 5, Stretch: 9}
	now := unit.Instant(time.Second)
	if !l.Sheds(now, &a) {
		t.Fatal("it was not shed")
	}
	l.Reconfigure(Rule{Release: 10_000, Span: time.Minute})
	l.set(0.01, 0)
	if !l.Sheds(now, &a) {
		t.Error("the decision was forgotten")
	}
	if l.Share() != 10_000 {
		t.Errorf("the share is %d", l.Share())
	}
}

func TestADecisionAllocatesNothing(t *testing.T) {
	for name, session := range map[string]uint64{"without a session": 0, "with one": 7} {
		l := at(0.5, Rule{})
		now, i := unit.Instant(time.Second), int64(0)
		l.Sheds(now, &Ask{Session: 1}) // takes the memory
		if n := testing.AllocsPerRun(1000, func() {
			i++
			now = now.Add(100 * time.Microsecond)
			if l.Due(now) {
				l.Look(now, Load{64, 8 * time.Millisecond, 10, 42 * time.Millisecond})
			}
			l.Sheds(now, &Ask{Gap: Gap(i * 1000 % int64(Useless)), Session: session, Stretch: uint64(i / 50)})
		}); n != 0 {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
}

func BenchmarkSheds(b *testing.B) {
	for _, c := range []struct {
		name     string
		sessions uint64
	}{{"no session", 0}, {"thousand sessions", 1000}, {"million sessions", 1_000_000}} {
		b.Run(c.name, func(b *testing.B) {
			l := at(0.5, Rule{})
			now, session := unit.Instant(time.Second), uint64(0)
			b.ReportAllocs()
			for i := range b.N {
				now = now.Add(80 * time.Microsecond)
				if l.Due(now) {
					l.Look(now, Load{64, 8 * time.Millisecond, 40, 42 * time.Millisecond})
				}
				if c.sessions > 0 {
					session = 1 + chance.Mix(uint64(i))%c.sessions
				}
				l.Sheds(now, &Ask{Gap: Gap(i * 7919 % int(Useless)), Session: session})
			}
		})
	}
}
