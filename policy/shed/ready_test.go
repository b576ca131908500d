package shed

import (
	"testing"
	"time"

	"github.com/spillway-dev/spillway/policy/reason"
	"github.com/spillway-dev/spillway/policy/unit"
	"pgregory.net/rapid"
)

// copyOf is a copy that is looked at every second; Phase 0 lets it be out in the
// first turn.
type copyOf struct {
	Ready
	now           unit.Instant
	offered, shed int64
}

// second passes one in which a hundred requests came and some were shed, and
// returns whether the copy is ready at its end.
func (c *copyOf) second(shed int64) bool {
	c.now = c.now.Add(time.Second)
	c.offered, c.shed = c.offered+100, c.shed+shed
	return c.Look(c.now, c.offered, c.shed)
}

func newCopy(phase time.Duration) *copyOf {
	return &copyOf{Ready: Ready{Config: Config{Share: 0.5, For: 10 * time.Second, Out: 60 * time.Second, Phase: phase}}}
}

func TestACopyThatShedsIsReadyUnlessItWasToldToMind(t *testing.T) {
	c := &copyOf{}
	for range 1000 {
		if !c.second(100) {
			t.Fatal("it said no")
		}
	}
}

func TestACopyLeavesAfterItHasShedForLongEnoughAndComesBackLater(t *testing.T) {
	c := newCopy(0)
	at := map[bool][]int{}
	was := true
	for s := 1; s <= 59; s++ {
		shed := int64(60) // enough to leave
		switch {
		case s == 5:
			shed = 49 // a second with less: it begins anew
		case s > 25 && s <= 35:
			shed = 30 // not enough to leave, too much to come back
		case s > 35:
			shed = 10
		}
		if is := c.second(shed); is != was {
			at[is] = append(at[is], s)
			was = is
		}
	}
	if got := at[false]; len(got) != 1 || got[0] != 15 {
		t.Errorf("it left at %v s, want at 15 s: ten after it began anew", got)
	}
	if got := at[true]; len(got) != 1 || got[0] != 45 {
		t.Errorf("it came back at %v s, want at 45 s: ten after it shed less than half", got)
	}
}

// A balancer that sends nothing to a copy that is out sees it come back.
func TestACopyWithoutTrafficComesBack(t *testing.T) {
	c := newCopy(0)
	for range 15 {
		c.second(100)
	}
	for s := range 12 {
		c.now = c.now.Add(time.Second)
		if c.Look(c.now, c.offered, c.shed) {
			if s < 9 {
				t.Fatalf("it came back after %d s without traffic", s+1)
			}
			return
		}
	}
	t.Error("it did not come back")
}

// Whatever each of many copies sheds, at no moment are many more than half of
// them out, and each is in for as long as it may have been out.
func TestNotAllCopiesLeaveAtOnce(t *testing.T) {
	const n = 100
	copies := make([]*copyOf, n)
	for i := range copies {
		copies[i] = newCopy(time.Duration(i) * 120 * time.Second / n)
	}
	most, ever := 0, 0
	for range 600 {
		out := 0
		for _, c := range copies {
			if !c.second(100) {
				out++
			}
		}
		most, ever = max(most, out), max(ever, out)
	}
	if most > n/2 || ever == 0 {
		t.Errorf("%d of %d copies were out at once, want some and at most half", most, n)
	}
}

// Looking more often changes nothing: a probe of a second balancer does not make
// a copy leave or stay.
func TestFurtherLooksChangeNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		one, two := newCopy(0), newCopy(0)
		for range rapid.IntRange(1, 200).Draw(t, "seconds") {
			shed := rapid.Int64Range(0, 100).Draw(t, "shed")
			a, b := one.second(shed), two.second(shed)
			if a != b {
				t.Fatalf("ready %v, with further looks %v", a, b)
			}
			two.Look(two.now.Add(100*time.Millisecond), two.offered+3, two.shed+3)
		}
	})
}

// What happened while nobody looked for a long time says nothing of now.
func TestAfterALongTimeItBeginsAnew(t *testing.T) {
	c := newCopy(0)
	c.second(0)
	c.now = c.now.Add(10 * time.Minute)
	c.offered, c.shed = c.offered+1000, c.shed+1000
	if !c.Look(c.now, c.offered, c.shed) {
		t.Error("it left for what was shed ten minutes ago")
	}
}

func TestWhatIsShedForLoad(t *testing.T) {
	for why, want := range map[reason.Reason]bool{
		reason.QueueFull: true, reason.Infeasible: true, reason.Expired: true, reason.Evicted: true,
		reason.Operator: false, reason.Draining: false, reason.TenantFull: false, reason.RateLimited: false,
		reason.Served: false, reason.Failed: false, reason.Dropped: false, reason.CallerGone: false,
	} {
		if ForLoad(why) != want {
			t.Errorf("%v counts as shed for load: %v, want %v", why, !want, want)
		}
	}
}
