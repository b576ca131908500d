package quota

import (
	"testing"
	"time"

	"github.com/spillway-dev/spillway/policy/unit"
	"pgregory.net/rapid"
)

// With nobody ahead Foresee says of every ask what Decide says, and changes nothing.
func TestForeseeIsDecideWithNobodyAhead(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var list []Budget
		now := Time{Run: 1 << 40, Wall: 1 << 50}
		for range rapid.IntRange(1, 3).Draw(t, "budgets") {
			l := Limit{Unit: Unit(rapid.IntRange(0, 3).Draw(t, "unit")), Most: rapid.Int64Range(1, 100).Draw(t, "most"), Refill: rapid.Int64Range(1, 9).Draw(t, "refill"), Every: time.Duration(rapid.Int64Range(1, 1e10).Draw(t, "every"))}
			b := NewBudget(l, now)
			b.Left -= rapid.Int64Range(0, 150).Draw(t, "spent")
			list = append(list, b)
		}
		later := Time{Run: now.Run.Add(time.Duration(rapid.Int64Range(0, 1e11).Draw(t, "later"))), Wall: now.Wall}
		ask := Amounts{rapid.Int64Range(0, 120).Draw(t, "requests"), rapid.Int64Range(0, 120).Draw(t, "tokens")}
		before := append([]Budget(nil), list...)
		foreseen := Foresee(later, list, Amounts{}, ask, 0)
		for i := range list {
			if list[i] != before[i] {
				t.Fatalf("budget %d was changed", i)
			}
		}
		if said := Decide(later, list, ask); said != foreseen {
			t.Fatalf("decided %+v, foreseen %+v", said, foreseen)
		}
	})
}

// When those ahead have taken theirs at the first moment at which they fit, the ask fits
// when that was foreseen, and not before: what a bucket gains beyond its brim while a
// nanosecond is rounded up is lost, one for each of them.
func TestWhatIsForeseenComesTrue(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := Limit{Unit: Requests, Most: rapid.Int64Range(1, 20).Draw(t, "most"), Refill: rapid.Int64Range(1, 9).Draw(t, "refill"), Every: time.Duration(rapid.Int64Range(1, 1e10).Draw(t, "every"))}
		now := Time{Run: 1 << 40}
		list := []Budget{NewBudget(l, now)}
		list[0].Left = rapid.Int64Range(-10, l.Most).Draw(t, "left")
		ahead := rapid.Int64Range(0, 50).Draw(t, "ahead")
		v := Foresee(now, list, Amounts{Requests: ahead}, Amounts{Requests: 1}, 0)
		fits := now.Run
		for range ahead + 1 {
			at := Time{Run: fits}
			if d := Decide(at, list, Amounts{Requests: 1}); !d.OK() {
				fits = fits.Add(d.After)
				if d := Decide(Time{Run: fits}, list, Amounts{Requests: 1}); !d.OK() {
					t.Fatalf("told %v, and then %+v", fits, d)
				}
			}
		}
		if got := now.Run.Add(v.After); got > fits || fits > got.Add(time.Duration(ahead+1)) {
			t.Fatalf("foreseen %v, it was %v", got, fits)
		}
	})
}

// What a store has refused that knows more is not reckoned with any more: the ask fits
// when the store said that it would.
func TestWhatAStoreLacksIsTakenOver(t *testing.T) {
	const s = time.Second
	now := Time{Run: unit.Instant(time.Hour), Wall: unit.Instant(time.Hour)}
	for _, c := range []struct {
		name  string
		limit Limit
		after time.Duration
		want  time.Duration
	}{
		{"a bucket", Limit{Unit: Requests, Most: 10, Refill: 1, Every: s}, 3 * s, 3 * s},
		{"a bucket, to the unit", Limit{Unit: Requests, Most: 10, Refill: 1, Every: s}, 3*s + 1, 3 * s},
		{"a day", Limit{Unit: Requests, Most: 10, Window: Window{Period: Day}}, time.Minute, 23 * time.Hour},
		{"slots come free at any moment", Limit{Unit: Concurrent, Most: 10}, s, 0},
	} {
		list := []Budget{NewBudget(c.limit, now)}
		ask := Amounts{Requests: 5, Concurrent: 1}
		list[0].Lacked(now, ask[c.limit.Unit], c.after)
		if v := Foresee(now, list, Amounts{}, ask, 0); v.After != c.want {
			t.Errorf("%s: it fits in %v, want %v", c.name, v.After, c.want)
		}
	}
}
