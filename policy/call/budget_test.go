package call

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/spillway-dev/spillway/policy/unit"
)

// at is the instant d after the start.
func at(d time.Duration) unit.Instant { return unit.Instant(d) }

// A thousand calls fail at the same instant and pause. Counted when they are
// sent, all retries would be granted before the first is; as a share of the calls
// in flight, the last would have none.
func TestCallsThatFailTogetherShareOneBudget(t *testing.T) {
	for _, floor := range []int{0, 3, 10} {
		b := newBudget(Budget{Percent: 20, Floor: floor})
		for range 1000 {
			b.began(at(0))
		}
		granted := 0
		for range 1000 {
			if b.reserve(at(time.Second)) {
				granted++
			}
		}
		if granted != 200+floor {
			t.Errorf("floor %d: %d retries are scheduled; want %d", floor, granted, 200+floor)
		}
		for range granted { // they leave the pause one after the other
			b.spend(at(1500 * time.Millisecond))
			if b.reserve(at(1500 * time.Millisecond)) {
				t.Fatalf("floor %d: one more is granted when one is sent", floor)
			}
		}
		if b.reserve(at(9 * time.Second)) {
			t.Errorf("floor %d: one more is granted in the same ten seconds", floor)
		}
	}
}

func TestALoneCallAtAQuietHourMayBeTriedAgain(t *testing.T) {
	b := newBudget(Budget{}) // the default
	for hour := range 3 {
		now := at(time.Duration(hour) * time.Hour)
		b.began(now)
		for i := range 4 {
			if got := b.reserve(now); got != (i < BudgetFloorDefault) {
				t.Errorf("hour %d: retry %d granted: %v", hour, i+1, got)
			}
		}
		for range BudgetFloorDefault {
			b.spend(now)
		}
	}
}

func TestWhatIsNotSentIsGivenBack(t *testing.T) {
	for name, c := range map[string]Budget{"share": {Floor: 2}, "tokens": {Tokens: 2, Percent: 10}} {
		b := newBudget(c)
		for range 100 {
			for i := range 3 {
				if b.reserve(at(0)) != (i < 2) {
					t.Fatalf("%s: reserve %d after releases", name, i+1)
				}
			}
			b.release()
			b.release()
			b.release() // one too many makes nothing more
		}
		if b.left(at(0)) != 2 {
			t.Errorf("%s: %d left, want 2", name, b.left(at(0)))
		}
	}
}

// A fleet of small clients has a floor each. All fails: that may not be more than
// what they send.
func TestTheFloorComesBackSlowly(t *testing.T) {
	b := newBudget(Budget{})
	sent := 0
	for i := range 60 * 60 { // a call every ten seconds for ten hours
		now := at(time.Duration(i) * 10 * time.Second)
		b.began(now)
		for b.reserve(now) {
			b.spend(now)
			sent++
		}
	}
	if want := BudgetFloorDefault + 60*60/3; sent > want {
		t.Errorf("%d retries of 3,600 calls; want %d, one in 30 s and the floor", sent, want)
	}
}

// The window slides by half a second: nothing jumps when it does, and what a
// pause has carried past the window's end still counts.
func TestTheWindowSlides(t *testing.T) {
	b := newBudget(Budget{Percent: 10})
	for i := range 20 { // 20 calls in each half second
		for range 20 {
			b.began(at(time.Duration(i) * BudgetStep))
		}
	}
	now := at(BudgetWindow)
	if got := b.left(now); got != 40 {
		t.Fatalf("%d left of 400 calls; want 40", got)
	}
	for range 40 {
		b.reserve(now)
	}
	for i, want := range []int{0, 0, 0} {
		now = at(BudgetWindow + time.Duration(i+1)*BudgetStep)
		if got := b.left(now); got != want {
			t.Errorf("%v: %d left, want %d: 40 are scheduled", now, got, want)
		}
	}
	for range 30 {
		b.release()
	}
	for range 10 {
		b.spend(now)
	}
	if got := b.left(now); got != 34-10 { // the steps at 0, 0.5 and 1 s are gone
		t.Errorf("%d left of 340 calls and 10 retries; want 24", got)
	}
	if got := b.left(now.Add(BudgetWindow)); got != 0 {
		t.Errorf("%d left after ten silent seconds, want 0", got)
	}
}

// Whatever comes, over any ten seconds no more is sent than Percent of the first
// attempts of those and the step before, and Floor; where calls pause before a
// retry, of those ten seconds in which it was granted.
func TestNoTenSecondsHaveMoreThanTheirShare(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := Budget{
			Percent: float64(rapid.IntRange(0, 150).Draw(t, "percent")),
			Floor:   rapid.IntRange(0, 4).Draw(t, "floor"),
		}.withDefaults()
		b := newBudget(c)
		pause := time.Duration(rapid.Int64Range(0, int64(3*time.Second)).Draw(t, "pause"))
		var now unit.Instant
		var began, sent, pending []unit.Instant
		steps := rapid.SliceOfN(rapid.IntRange(0, 99), 50, 400).Draw(t, "steps")
		for _, s := range steps {
			now = now.Add(time.Duration(s*s) * 137 * time.Microsecond) // up to 1.3 s
			for len(pending) > 0 && pending[0] <= now {
				if s%7 == 0 {
					b.release()
				} else {
					b.spend(pending[0])
					sent = append(sent, pending[0])
				}
				pending = pending[1:]
			}
			b.began(now)
			began = append(began, now)
			for range s % 5 {
				if b.reserve(now) {
					pending = append(pending, now.Add(pause))
				}
			}
		}
		for i, last := range sent {
			from, n := last.Add(-BudgetWindow), 0
			for _, s := range sent[:i+1] {
				if s > from {
					n++
				}
			}
			// The most first attempts of any window in which these may have been granted.
			var most int
			for _, g := range began {
				if g > last || g < from.Add(-pause) {
					continue
				}
				k := 0
				for _, a := range began {
					if a <= g && a > g.Add(-BudgetWindow-BudgetStep) {
						k++
					}
				}
				most = max(most, k)
			}
			if limit := most*int(c.Percent)/100 + c.Floor; n > limit {
				t.Fatalf("%d sent in the ten seconds before %v; %d first attempts allow %d", n, last, most, limit)
			}
		}
	})
}

// Brooker's bucket is three tries when little fails and a tenth when all does.
func TestTokensAreEarnedByAnswersAndSpentByRetries(t *testing.T) {
	b := newBudget(Budget{Tokens: 5, Percent: 10})
	for i := range 6 {
		if b.reserve(0) != (i < 5) {
			t.Fatalf("retry %d of a full bucket of 5", i+1)
		}
		b.spend(0)
	}
	for i := range 10 {
		if b.reserve(0) {
			t.Errorf("a retry after %d answers; ten are needed", i)
		}
		b.answered()
	}
	if !b.reserve(0) || b.reserve(0) {
		t.Error("ten answers make one retry")
	}
	for range 1000 {
		b.answered()
	}
	if b.left(0) != 5 {
		t.Errorf("%d left after 1,000 answers, want 5: it is full", b.left(0))
	}
}

func TestWithoutABudgetAllIsGranted(t *testing.T) {
	b := newBudget(Budget{Off: true})
	for range 10_000 {
		if !b.reserve(0) {
			t.Fatal("refused")
		}
		b.spend(0)
	}
}

func TestAReloadRefillsNoBudget(t *testing.T) {
	for name, c := range map[string]Budget{"share": {Percent: 10, Floor: 3}, "tokens": {Tokens: 3, Percent: 10}} {
		b := newBudget(c)
		for b.reserve(0) {
			b.spend(0)
		}
		for range 100 {
			b.set(c)
		}
		if b.reserve(0) {
			t.Errorf("%s: a retry after 100 reloads", name)
		}
	}
	b := newBudget(Budget{Floor: 3})
	b.reserve(0)
	b.set(Budget{Floor: 1})
	if b.reserve(0) {
		t.Error("a lower floor holds at once")
	}
}

func TestAClockThatStepsBackGivesNothing(t *testing.T) {
	b := newBudget(Budget{Floor: 1})
	b.reserve(at(time.Hour))
	b.spend(at(time.Hour))
	for _, d := range []time.Duration{0, -time.Hour, time.Hour - 1} {
		if b.reserve(at(d)) {
			t.Errorf("granted at %v after %v", d, time.Hour)
		}
	}
}
